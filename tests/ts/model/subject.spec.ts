import type { SubjectModel } from '../../../src/model/subject';
import { problem, RequestError } from '../../../src/protocol/client';
import type { FakeConnection } from '../support/fakes';
import { report, subjectSummary, variantSummary } from '../support/fakes';
import { eachModel } from '../support/models';
import { selection } from '../support/structs';

describe('SubjectModel', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  eachModel((...both) => ([connection, model] = both));

  it('opens the connection that it is given', () => {
    expect(connection.open).toHaveBeenCalledTimes(1);
    expect(model.status.kind).toBe('connecting');
  });

  it('announces what a cell inspected before the comms were open', () => {
    const listener = jest.fn();
    model.inspected.connect((_, id) => listener(id));
    connection.hello({ subjects: [subjectSummary('g')] });
    expect(listener).not.toHaveBeenCalled();
    model.awaitsInspection = true;
    connection.hello({ subjects: [subjectSummary('g')] });
    expect(listener).not.toHaveBeenCalled();
    connection.hello({ subjects: [subjectSummary('f'), subjectSummary('g')] });
    expect(listener.mock.calls).toEqual([['f']]);
    expect(model.subject).toBe('f');
    connection.hello({ subjects: [subjectSummary('f', 2)] });
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('takes the kernel’s state and selects the latest subject', async () => {
    connection.hello({ subjects: [subjectSummary('g'), subjectSummary('f')] });
    expect(model.status.kind).toBe('ready');
    expect(model.choices.backends).toEqual(['eager', 'inductor']);
    expect(model.subject).toBe('g');
    await connection.answer('get_report', report('g'));
    expect(model.report?.subject.id).toBe('g');
  });

  it('selects what was just inspected, and emits a signal', async () => {
    const inspected = jest.fn();
    model.inspected.connect((_, id) => inspected(id));
    connection.hello();
    await connection.inspect();
    expect(inspected).toHaveBeenCalledWith('f');
    expect(model.selectedVariants).toEqual({ left: 'python', right: 'cpp' });
    expect(model.compilation).toBe('0/0');
  });

  it('has the switches show the cell’s setting once its variant is there', async () => {
    connection.hello();
    await connection.inspect('f', {
      variants: [variantSummary('eager', { backend: null })]
    });
    expect(model.requested.target).toBeNull();
    connection.event.emit({
      event: 'report_changed',
      data: { subject: 'f', revision: 2, variants: null }
    });
    const variants = [variantSummary('python on h100', { target: 'h100' })];
    await connection.answer('get_report', report('f', { variants }));
    expect(model.requested.target).toBe('h100');
  });

  it('shows the C++ wrapper once it is there, unless the user chose', async () => {
    connection.hello();
    const more = (revision: number, names: string[]) => {
      connection.event.emit({
        event: 'report_changed',
        data: { subject: 'f', revision, variants: null }
      });
      const variants = names.map(name =>
        variantSummary(name, { cpp_wrapper: name.startsWith('cpp') })
      );
      return connection.answer('get_report', report('f', { variants }));
    };
    await connection.inspect('f', { variants: [variantSummary('python')] });
    expect(model.selectedVariants).toEqual({ left: 'python', right: 'python' });
    await more(2, ['python', 'cpp']);
    expect(model.selectedVariants).toEqual({ left: 'python', right: 'cpp' });
    model.selectedVariants = { left: 'python', right: 'python' };
    await more(3, ['python', 'cpp', 'cpp max-autotune']);
    expect(model.selectedVariants).toEqual({ left: 'python', right: 'python' });
  });

  it('drops the report of a subject that is not selected any more', async () => {
    connection.hello({ subjects: [subjectSummary('f'), subjectSummary('g')] });
    model.subject = 'g';
    await connection.answer('get_report', report('f'));
    expect(model.report).toBeNull();
    await connection.answer('get_report', report('g'));
    expect(model.report?.subject.id).toBe('g');
  });

  it('requests what changes during a request only once more', async () => {
    connection.hello({ subjects: [subjectSummary('f')] });
    for (let revision = 2; revision < 9; revision++) {
      connection.event.emit({
        event: 'report_changed',
        data: { subject: 'f', revision, variants: null }
      });
    }
    await connection.answer('get_report', report('f'));
    await connection.answer('get_report', report('f', { revision: 8 }));
    expect(model.report?.revision).toBe(8);
    expect(connection.asked).toEqual([]);
  });

  it('offers a new subject, and keeps the selected one', async () => {
    connection.hello();
    await connection.inspect();
    const come = (offer: string | null) =>
      connection.event.emit({
        event: 'subjects_changed',
        data: {
          subjects: [subjectSummary('watch'), subjectSummary('f')],
          focus: null,
          offer
        }
      });
    come('watch');
    expect([model.subject, model.offered]).toEqual(['f', 'watch']);
    come(null);
    expect(model.offered).toBe('watch');
    model.dismissOffer();
    expect(model.offered).toBeNull();
    come('watch');
    model.subject = 'watch';
    expect(model.offered).toBeNull();
    come('watch');
    expect(model.offered).toBeNull();
  });

  it('shows a failed request as a problem', async () => {
    connection.hello({ subjects: [subjectSummary('f')] });
    const refusal = problem({ what: 'no report' });
    await connection.answer('get_report', new RequestError(refusal, 'reply'));
    expect(model.problem).toEqual(refusal);
  });

  it('emits a selection once', () => {
    const changed = jest.fn();
    model.selectionChanged.connect(changed);
    const origin = {};
    model.select({ source: { file: 'a', line: 1 }, origin });
    model.select({ source: { file: 'a', line: 1 }, origin: {} });
    expect(changed).toHaveBeenCalledTimes(1);
    expect(model.selection.origin).toBe(origin);
    model.select({});
    expect(model.selection).toEqual(selection());
  });
});
