import type { SubjectModel } from '../../../src/model/subject';
import type { FakeConnection } from '../support/fakes';
import { report, variantSummary } from '../support/fakes';
import { eachInspectedModel } from '../support/models';
import { compilationSummary } from '../support/structs';

describe('The variant that single views show', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  eachInspectedModel((...both) => ([connection, model] = both));

  it('is the left one at first', () => {
    expect(model.variant).toBe('python');
  });

  it('is one of the two sides when they change', () => {
    model.variant = 'cpp';
    expect(model.selectedVariants).toEqual({ left: 'python', right: 'cpp' });
    model.selectedVariants = { left: 'python', right: 'python' };
    expect(model.variant).toBe('python');
  });

  it('is never one that torch.compile did not compile', () => {
    model.variant = 'eager';
    expect(model.variant).toBe('python');
    model.selectedVariants = { left: 'eager', right: 'cpp' };
    expect(model.variant).toBe('cpp');
  });

  it('is put on its side when it is on neither', async () => {
    const more = report('f', { revision: 2 });
    more.variants = [...more.variants, variantSummary('tuned')];
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', revision: 2, variants: null }
    });
    await connection.answer('get_report', more);
    const listener = jest.fn();
    model.variantChanged.connect((_, name) => listener(name));
    model.variant = 'tuned';
    expect(model.selectedVariants.left).toBe('tuned');
    expect(listener.mock.calls).toEqual([['tuned']]);
  });

  /**
   * The Python wrapper's variant gets a second compilation.
   */
  async function recompile(withCode: readonly string[] = []): Promise<void> {
    const more = report('f', { revision: 2 });
    more.variants[1].compilations = ['0/0', '0/1'].map(id =>
      compilationSummary({
        id,
        artifacts: withCode.includes(id)
          ? [
              {
                name: 'python',
                label: 'python',
                group: 'code',
                language: 'python',
                lines: 1,
                forms: [],
                configs: []
              }
            ]
          : []
      })
    );
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', revision: 2, variants: null }
    });
    await connection.answer('get_report', more);
  }

  it('has the compilation that is shown', async () => {
    await recompile();
    model.compilation = '0/1';
    expect(model.compilation).toBe('0/1');
    model.variant = 'cpp';
    expect(model.compilation).toBe('0/0');
  });

  it('turns to the first compilation with code once one has it', async () => {
    await recompile(['0/1']);
    expect(model.compilation).toBe('0/1');
  });

  it('stays at a compilation that was chosen, though it has no code', async () => {
    model.compilation = '0/0';
    await recompile(['0/1']);
    expect(model.compilation).toBe('0/0');
  });

  it('turns to a compilation that was chosen before the report had it', async () => {
    model.compilation = '0/1';
    expect(model.compilation).toBe('0/0');
    const changed = jest.fn();
    model.compilationChanged.connect((_, id) => changed(id));
    await recompile();
    expect(model.compilation).toBe('0/1');
    expect(changed.mock.calls).toEqual([['0/1']]);
  });
});
