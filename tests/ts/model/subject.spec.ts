import { readFileSync } from 'fs';
import * as path from 'path';
import { SubjectModel } from '../../../src/model/subject';
import { problem, RequestError } from '../../../src/protocol/client';
import type { GetArtifact, Region } from '../../../src/protocol/types';
import {
  FakeConnection,
  report,
  settle,
  subjectSummary,
  variantSummary
} from '../support/fakes';
import {
  compilationSummary,
  fullCompilation,
  kernelOf,
  selection
} from '../support/structs';

/**
 * A kernel's page around its report.
 */
const HEAD =
  '<html><title>old - compilescope</title><script type="application/json" id="report">';
const TAIL = '</script><script>views</script></html>';

describe('SubjectModel', () => {
  let connection: FakeConnection;
  let model: SubjectModel;

  beforeEach(() => {
    jest.useFakeTimers();
    connection = new FakeConnection();
    model = new SubjectModel();
    model.connection = connection;
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  it('opens the connection that it is given', () => {
    expect(connection.open).toHaveBeenCalledTimes(1);
    expect(model.status.kind).toBe('connecting');
  });

  it('hears late of what a cell inspected while the comms were opened', () => {
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

  it('takes the kernel’s state, and turns to the latest subject', async () => {
    connection.hello({ subjects: [subjectSummary('g'), subjectSummary('f')] });
    expect(model.status.kind).toBe('ready');
    expect(model.choices.backends).toEqual(['eager', 'inductor']);
    expect(model.subject).toBe('g');
    await connection.answer('get_report', report('g'));
    expect(model.report?.subject.id).toBe('g');
  });

  it('turns to what was just inspected, and says so', async () => {
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

  it('asks once more, not often, for what changes meanwhile', async () => {
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

  it('is empty after a restart', async () => {
    connection.hello();
    await connection.inspect();
    connection.setStatus({ kind: 'connecting' });
    expect(model.report).not.toBeNull();
    connection.hello({ subjects: [] });
    expect(model.subject).toBeNull();
    expect(model.report).toBeNull();
  });

  describe('when the kernel is restarted', () => {
    const text = readFileSync(
      path.join(__dirname, '../../data/reports/mlp.compilescope.json'),
      'utf8'
    );
    const { id } = JSON.parse(text).subject;

    beforeEach(async () => {
      connection.hello();
      await connection.inspect(id);
      jest.advanceTimersByTime(2000);
      await connection.answer('save_report', {
        filename: 'mlp.html',
        text: `${HEAD}${text.replaceAll('<', '\\u003c')}${TAIL}`
      });
      connection.setStatus({ kind: 'connecting', isRestart: true });
    });

    it('answers from what was fetched, in the kernel’s place', async () => {
      expect(model.isKept).toBe(true);
      expect(model.isLive).toBe(false);
      connection.setStatus({ kind: 'unloaded' });
      connection.hello({ subjects: [], session: 'session-2' });
      expect(model.subjects.map(summary => summary.subject.id)).toEqual([id]);
      expect(model.report?.subject.id).toBe(id);
      const { text: saved } = await model.save('json');
      expect(JSON.parse(saved).subject.id).toBe(id);
      const [variant] = JSON.parse(text).variants;
      const reply = await model.getVariant(variant.name);
      expect(reply.name).toBe(variant.name);
    });

    it('is saved as the page that the kernel would have written', async () => {
      expect(model.isEarlier(id)).toBe(true);
      const { filename, text: page } = await model.save('html');
      expect(filename).toBe('Mlp.html');
      const [head, data] = page.split('id="report">');
      expect(`${head}id="report">`).toBe(HEAD.replace('old', 'Mlp'));
      expect(data.endsWith(TAIL)).toBe(true);
      const saved = data.slice(0, -TAIL.length);
      expect(saved).not.toContain('<');
      expect(JSON.parse(saved).subject.id).toBe(id);
      await expect(model.save('html', true)).rejects.toThrow('kernel');
    });

    it('keeps the next one by its packed JSON, and makes its page of the first', async () => {
      connection.hello({ subjects: [], session: 'session-2' });
      await connection.inspect('other');
      jest.advanceTimersByTime(2000);
      const { args } = connection.asked.find(
        request => request.command === 'save_report'
      )!;
      expect(args).toMatchObject({ subject: 'other', format: 'packed' });
    });

    it('fetches what was shown for a moment only, too', async () => {
      connection.hello({ subjects: [], session: 'session-2' });
      await connection.inspect('other');
      connection.event.emit({
        event: 'subjects_changed',
        data: {
          subjects: [subjectSummary('third'), subjectSummary('other')],
          focus: 'third',
          offer: null
        }
      });
      await connection.answer('get_report', report('third'));
      jest.advanceTimersByTime(2000);
      for (const subject of ['other', 'third']) {
        await settle();
        const { args } = connection.asked.find(
          request => request.command === 'save_report'
        )!;
        expect(args).toMatchObject({ subject });
        await connection.answer('save_report', { filename: '', text });
      }
      connection.setStatus({ kind: 'connecting', isRestart: true });
      expect(model.subjects.map(summary => summary.subject.id)).toContain(
        'other'
      );
    });

    it('is forgotten without the kernel', async () => {
      await model.forget();
      expect(model.subjects).toEqual([]);
      expect(model.isKept).toBe(false);
    });

    it('makes room for the same cell, run again', async () => {
      connection.hello({ subjects: [], session: 'session-2' });
      const again = subjectSummary('other');
      connection.event.emit({
        event: 'subjects_changed',
        data: { subjects: [again], focus: 'other', offer: null }
      });
      expect(model.subjects.map(summary => summary.subject.id)).toEqual([
        'other',
        id
      ]);
      expect(model.isLive).toBe(true);
    });
  });

  it('offers what came meanwhile, and stays with what it shows', async () => {
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

  it('has nothing of what it never fetched', async () => {
    connection.hello();
    await connection.inspect();
    connection.setStatus({ kind: 'dead' });
    expect(model.isKept).toBe(false);
    expect(model.isLive).toBe(false);
  });

  it('keeps the last report of a dead kernel', async () => {
    connection.hello();
    await connection.inspect();
    connection.setStatus({ kind: 'dead' });
    expect(model.status.kind).toBe('dead');
    expect(model.report).not.toBeNull();
    model.connection = null;
    expect(model.status.kind).toBe('dead');
    expect(connection.isDisposed).toBe(true);
  });

  it('shows a failed request as a problem', async () => {
    connection.hello({ subjects: [subjectSummary('f')] });
    const refusal = problem({ what: 'no report' });
    await connection.answer('get_report', new RequestError(refusal, 'reply'));
    expect(model.problem).toEqual(refusal);
  });

  describe('artifacts', () => {
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

    beforeEach(async () => {
      connection.hello();
      await connection.inspect();
    });

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
  });

  it('tells of a selection once', () => {
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

  describe('the variant that single views show', () => {
    beforeEach(() => connection.inspect());

    it('is the left one at first', () => {
      expect(model.variant).toBe('python');
    });

    it('is one of the two sides when they change', () => {
      model.variant = 'cpp';
      expect(model.selectedVariants).toEqual({ left: 'python', right: 'cpp' });
      model.selectedVariants = { left: 'python', right: 'python' };
      expect(model.variant).toBe('python');
    });

    it('is never one that torch.compile did not make', () => {
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

  it('asks for each part of a compilation once', async () => {
    await connection.inspect();
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
