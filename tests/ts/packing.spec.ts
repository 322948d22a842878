import { readFileSync } from 'fs';
import path from 'path';
import { readReport } from '../../src/model/file';
import { shareGraphs, unpack } from '../../src/model/reading/packing';
import { graphOf, nodeOf } from './structs';

const FILE = path.join(__dirname, '../data/reports/training.compilescope.json');

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

it('gives variants the graphs that a file has once', () => {
  const report = readReport(readFileSync(FILE, 'utf8'));
  const [python, cpp] = report.variants.map(each => each.compilations[0]);
  const { id, graphs } = cpp;
  graphs.dynamo = graphOf('dynamo', [], {
    same_as: ['python', 'dynamo']
  });
  graphs.joint = graphOf('joint', [], {
    same_as: ['gone', 'joint']
  });
  shareGraphs(report);
  expect(python.id).toBe(id);
  expect(graphs.dynamo).toEqual(python.graphs.dynamo);
  expect(graphs.joint.nodes).toEqual([]);
});
