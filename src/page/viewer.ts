import type { Widget } from '@lumino/widgets';
import { RequestError } from '../protocol/errors';
import { problem } from '../protocol/client';
import { parameter } from './address';
import { showProblem } from './loading';
import { setDark } from './setTheme';
import { unpackReport } from '../model/file/packed';
import { showSaved } from './saved';

/**
 * Show reports that the reader opens or drops onto the page, or that its address
 * names: `#report=ADDRESS`. They are read here, and sent nowhere.
 *
 * @param start - What the page holds before one is open.
 */
export function showViewer(start: HTMLElement): void {
  setDark(window.matchMedia('(prefers-color-scheme: dark)').matches);
  const line = start.querySelector<HTMLElement>('[role=status]')!;
  let shown: Widget | null = null;

  const open = async (name: string, read: () => Promise<string>) => {
    start.hidden = false;
    shown?.dispose();
    shown = null;
    line.setAttribute('role', 'status');
    line.textContent = `Reading ${name}`;
    try {
      shown = showSaved(await reportIn(await read()));
      document.title = `${name} - compilescope`;
      line.textContent = '';
      start.hidden = true;
    } catch (error) {
      showProblem(line, error);
    }
  };
  const openFile = (file: File | undefined) => {
    if (file) {
      void open(file.name, () => file.text());
    }
  };

  const input = start.querySelector('input')!;
  input.addEventListener('change', () => openFile(input.files?.[0]));
  window.addEventListener('dragover', event => event.preventDefault());
  window.addEventListener('drop', event => {
    event.preventDefault();
    openFile(event.dataTransfer?.files[0]);
  });
  const openNamed = () => {
    const address = parameter('report');
    if (address) {
      void open(address, () => load(address));
    }
  };
  window.addEventListener('hashchange', openNamed);
  openNamed();
}

/**
 * The JSON of the report in a file: a saved page, or the JSON itself. Nothing of
 * the page is run.
 */
async function reportIn(text: string): Promise<string> {
  if (!text.trimStart().startsWith('<')) {
    return text;
  }
  const page = new DOMParser().parseFromString(text, 'text/html');
  const packed = page.getElementById('packed-report')?.textContent;
  const report = packed
    ? await unpackReport(packed)
    : page.getElementById('report')?.textContent;
  if (!report) {
    throw new RequestError(
      problem({
        what: 'This page holds no report.',
        why: 'It was not saved by compilescope, or before its views were built.',
        remedy: 'Open a page or a .compilescope.json that Report.save wrote.'
      }),
      'closed'
    );
  }
  return report;
}

async function load(address: string): Promise<string> {
  try {
    const response = await fetch(address);
    if (!response.ok) {
      throw new Error(`${response.status} ${response.statusText}`);
    }
    return await response.text();
  } catch (error) {
    throw new RequestError(
      problem({
        what: `${address} cannot be loaded.`,
        why: (error as Error).message,
        remedy:
          'Download the file and drop it here. A page opened from disk may load nothing, and another site must allow it (CORS).'
      }),
      'closed'
    );
  }
}
