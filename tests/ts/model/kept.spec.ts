import { readFileSync } from 'fs';
import * as path from 'path';
import type { SubjectModel } from '../../../src/model/subject';
import type { FakeConnection } from '../support/fakes';
import { report, settle, subjectSummary } from '../support/fakes';
import { eachModel } from '../support/models';

/**
 * A kernel's page around its report.
 */
const HEAD =
  '<html><title>old - compilescope</title><script type="application/json" id="report">';
const TAIL = '</script><script>views</script></html>';

describe('The reports of a SubjectModel whose kernel is gone', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  eachModel((...both) => ([connection, model] = both));

  it('are gone after a restart if they were not fetched', async () => {
    connection.hello();
    await connection.inspect();
    connection.setStatus({ kind: 'connecting' });
    expect(model.report).not.toBeNull();
    connection.hello({ subjects: [] });
    expect(model.subject).toBeNull();
    expect(model.report).toBeNull();
  });

  it('have nothing that was not fetched', async () => {
    connection.hello();
    await connection.inspect();
    connection.setStatus({ kind: 'dead' });
    expect(model.isKept).toBe(false);
    expect(model.isLive).toBe(false);
  });

  it('include the one that was shown when the kernel died', async () => {
    connection.hello();
    await connection.inspect();
    connection.setStatus({ kind: 'dead' });
    expect(model.status.kind).toBe('dead');
    expect(model.report).not.toBeNull();
    model.connection = null;
    expect(model.status.kind).toBe('dead');
    expect(connection.isDisposed).toBe(true);
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

    it('answers requests from the fetched report', async () => {
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

    it('fetches the next report as packed JSON, without its page', async () => {
      connection.hello({ subjects: [], session: 'session-2' });
      await connection.inspect('other');
      jest.advanceTimersByTime(2000);
      const { args } = connection.asked.find(
        request => request.command === 'save_report'
      )!;
      expect(args).toMatchObject({ subject: 'other', format: 'packed' });
    });

    it('also fetches a report that was shown only briefly', async () => {
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

    it('is replaced when the same cell runs again', async () => {
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
});
