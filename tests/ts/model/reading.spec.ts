import type { SubjectModel } from '../../../src/model/subject';
import type { GetArtifact, Region } from '../../../src/protocol/types';
import type { FakeConnection } from '../support/fakes';
import { settle } from '../support/fakes';
import { eachInspectedModel } from '../support/models';
import { fullCompilation, kernelOf } from '../support/structs';

describe('The artifacts and parts that a SubjectModel reads', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  eachInspectedModel((...both) => ([connection, model] = both));

  const regions: Region[] = [];
  const result = (artifact: string) => ({
    artifact: {
      name: artifact,
      label: artifact,
      group: 'code' as const,
      language: 'python',
      lines: 1,
      forms: [],
      configs: []
    },
    text: artifact,
    regions,
    lines: [],
    source: ''
  });
  const asked = () =>
    connection.log
      .filter(([command]) => command === 'get_artifact')
      .map(([, args]) => (args as GetArtifact).variant);

  it('are asked for once', async () => {
    const first = model.getArtifact('python', '0/0', 'python');
    const second = model.getArtifact('python', '0/0', 'python');
    await connection.answer('get_artifact', result('python'));
    expect(await first).toBe(await second);
    expect(asked()).toEqual(['python']);
  });

  it('are asked for again when their variant has changed', async () => {
    void model.getArtifact('python', '0/0', 'python');
    void model.getArtifact('cpp', '0/0', 'cpp');
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', revision: 2, variants: ['cpp'] }
    });
    void model.getArtifact('python', '0/0', 'python');
    void model.getArtifact('cpp', '0/0', 'cpp');
    expect(asked()).toEqual(['python', 'cpp', 'cpp']);
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', revision: 3, variants: null }
    });
    void model.getArtifact('python', '0/0', 'python');
    expect(asked()).toEqual(['python', 'cpp', 'cpp', 'python']);
  });

  it('outlast a change of another variant, which may change the rest', async () => {
    const all = () => {
      void model.getArtifact('python', '0/0', 'python');
      void model.getGraph('python', '0/0', 'dynamo');
      void model.getVariant('python');
      void model.getCompilation('python', '0/0', ['kernels']);
    };
    all();
    const before = connection.log.length;
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', revision: 2, variants: ['cpp'] }
    });
    all();
    expect(connection.log.slice(before).map(([command]) => command)).toEqual([
      'get_report',
      'get_variant',
      'get_compilation'
    ]);
  });

  it('are asked for again after a failure', async () => {
    const first = model.getArtifact('python', '0/0', 'python');
    const failed = expect(first).rejects.toThrow('gone');
    await connection.answer('get_artifact', new Error('gone'));
    await failed;
    void model.getArtifact('python', '0/0', 'python');
    expect(asked()).toHaveLength(2);
  });

  it('are asked for once, in one compilation as well', async () => {
    const both = model.getCompilation('python', '0/0', ['kernels', 'guards']);
    void model.getCompilation('python', '0/0', ['kernels']);
    await settle();
    const asked = connection.asked.filter(
      request => request.command === 'get_compilation'
    );
    expect(asked).toHaveLength(2);
    const kernels = [kernelOf('k')];
    await connection.answer('get_compilation', {
      revision: 1,
      compilation: fullCompilation({ kernels })
    });
    await connection.answer('get_compilation', {
      revision: 1,
      compilation: fullCompilation({ guard_tree: [{ kind: 'Root' } as never] })
    });
    const reply = await both;
    expect(reply.kernels).toEqual(kernels);
    expect(reply.guard_tree).toHaveLength(1);
  });
});
