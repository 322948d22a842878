import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import { cellsWith, fileOf } from '../../src/notebook/cells';
import { isLinked } from '../../src/notebook/lines';
import type { Region } from '../../src/protocol/types';
import type { ISubjectModel } from '../../src/tokens';
import { report, variantSummary } from './fakes';
import { compilationSummary } from './structs';

function cell(source: string, type = 'code'): Cell {
  return {
    model: { type, sharedModel: { getSource: () => source } }
  } as unknown as Cell;
}

describe('cellsWith', () => {
  it('finds the code cells whose text is the whole file', () => {
    const [other, text, whole] = [
      cell('%%compile\nf(x, y)'),
      cell('%%compile\nf(x)', 'markdown'),
      cell('%%compile\nf(x)')
    ];
    const notebook = { widgets: [other, text, whole] } as unknown as Notebook;
    expect(cellsWith(notebook, '%%compile\nf(x)\n')).toEqual([whole]);
  });
});

describe('fileOf', () => {
  const files = { 'old.py': 'f(x)\n', 'other.py': 'g()', 'new.py': 'f(x)' };

  it('is the last file with the text of the cell', () => {
    expect(fileOf(cell('f(x)'), files)).toBe('new.py');
  });

  it('is none once the cell was edited', () => {
    expect(fileOf(cell('f(x) '), files)).toBeNull();
  });
});

describe('isLinked', () => {
  const region = (line: number) =>
    ({ sources: [{ file: 'a.py', line }] }) as unknown as Region;
  const artifact = (name: string) => ({
    name,
    label: name,
    group: 'code' as const,
    language: 'python',
    lines: 1,
    forms: [],
    configs: []
  });
  const variant = (name: string, artifacts: string[]) =>
    variantSummary(
      name,
      {},
      {
        compilations: [
          compilationSummary({ artifacts: artifacts.map(artifact) })
        ]
      }
    );

  it('looks into the wrappers of both sides, and survives one missing', async () => {
    const getArtifact = jest.fn((name: string, _: string, file: string) =>
      name === 'cpp'
        ? Promise.resolve({ regions: [region(3)] })
        : Promise.reject(new Error(file))
    );
    const model = {
      report: report('f', {
        variants: [
          variant('python', ['python', 'graph.post_grad']),
          variant('cpp', ['cpp'])
        ]
      }),
      compilation: '0/0',
      selectedVariants: { left: 'python', right: 'cpp' },
      getArtifact
    } as unknown as ISubjectModel;
    await expect(isLinked(model, 'a.py', 3)).resolves.toBe(true);
    await expect(isLinked(model, 'a.py', 4)).resolves.toBe(false);
    expect(getArtifact.mock.calls.map(call => call[2])).not.toContain(
      'graph.post_grad'
    );
  });
});
