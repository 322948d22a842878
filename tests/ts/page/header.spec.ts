import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import type { ISubjectModel } from '../../../src/interfaces/subject';
import { Header } from '../../../src/page/header';
import { formatDate } from '../../../src/words/format';
import { overview, report } from '../support/fakes';

const trans = nullTranslator.load('compilescope');

async function lineOf(created: string): Promise<HTMLElement> {
  const device = 'torch 2.13.0 · NVIDIA H200';
  const environment = `${device} · Python 3.12.3 · 16 threads`;
  const model = {
    report: report('f', { overview: overview({ device, environment }) })
  } as ISubjectModel;
  Object.assign(model, { reportChanged: new Signal(model) });
  const header = new Header({ model, created, trans });
  Widget.attach(header, document.body);
  await header.renderPromise;
  const line = header.node.querySelector<HTMLElement>('p:last-child')!;
  header.dispose();
  return line;
}

describe('Header', () => {
  it('names the device and the date, and all versions in a title', async () => {
    const created = '2026-03-04T05:06:07';
    const date = formatDate(new Date(created));
    expect(date).toContain('05:06:07');
    const line = await lineOf(created);
    expect([line.textContent, line.title]).toEqual([
      `torch 2.13.0 · NVIDIA H200 · ${date}`,
      `torch 2.13.0 · NVIDIA H200 · Python 3.12.3 · 16 threads\n${date}`
    ]);
  });

  it('names no date of a report that still grows', async () => {
    const { textContent } = await lineOf('');
    expect(textContent).toBe('torch 2.13.0 · NVIDIA H200');
  });
});
