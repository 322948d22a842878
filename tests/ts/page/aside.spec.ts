import { nullTranslator } from '@jupyterlab/translation';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { SubjectModel } from '../../../src/model/subject';
import { Aside } from '../../../src/page/aside';
import type { ReportSummary } from '../../../src/protocol/types';
import { report } from '../support/fakes';

it('is folded in a narrow window until it is opened', async () => {
  const trans = nullTranslator.load('compilescope');
  const aside = new Aside(new SubjectModel(), trans, jest.fn());
  Widget.attach(aside, document.body);
  await aside.renderPromise;
  const button = aside.node.querySelector('button')!;
  expect(button.getAttribute('aria-expanded')).toBe('false');
  expect(aside.hasClass('jp-mod-folded')).toBe(true);
  button.click();
  expect(aside.hasClass('jp-mod-folded')).toBe(false);
  MessageLoop.flush();
  await aside.renderPromise;
  expect(button.getAttribute('aria-expanded')).toBe('true');
  aside.dispose();
});

it('says what is folded, and how many problems', async () => {
  const problem = {
    severity: 'error' as const,
    what: 'g++ not found',
    why: '',
    remedy: '',
    where: null,
    detail: '',
    facts: {}
  };
  const folded = async (change: Partial<ReportSummary>) => {
    const model = Object.defineProperty(new SubjectModel(), 'report', {
      value: report('f', change)
    });
    const trans = nullTranslator.load('compilescope');
    const aside = new Aside(model, trans, jest.fn());
    Widget.attach(aside, document.body);
    await aside.renderPromise;
    const { textContent } = aside.node.querySelector('button')!;
    const label = aside.node.getAttribute('aria-label');
    aside.dispose();
    return [textContent, label];
  };
  expect(
    await folded({ listed_problems: [{ problem, variants: [] }] })
  ).toEqual(['▴ Variants and problems 1', 'Variants and problems']);
  const trace = { processes: [] } as unknown as ReportSummary['trace'];
  expect(await folded({ trace, variants: [] })).toEqual([
    '▴ Processes and problems',
    'Processes and problems'
  ]);
});
