import { unpack } from '../../../src/model/reading/packing';
import { graphOf, nodeOf } from '../support/structs';

it('gives every node its stack again, once', () => {
  const line = { file: 'm.py', line: 1, function: 'f', code: '' };
  const graph = graphOf(
    'dynamo',
    [0, null, 0, 7].map((stack, index) => nodeOf(`n${index}`, { stack })),
    { stacks: [[line]] }
  );
  for (const unpacked of [unpack(graph), unpack(graph)]) {
    expect(unpacked.nodes.map(node => node.sources)).toEqual([
      [line],
      [],
      [line],
      []
    ]);
  }
});
