import '@lumino/widgets/style/index.css';
import '../../style/index.css';
import '../../style/page.css';
import { fromText, setWorkerFactory } from '../graph/worker/factory';
import { unpackReport } from '../model/file/packed';
import { showLive } from './live';
import { fillInPlaceOf, refusePacked } from './loading';
import { showSaved } from './saved';
import { showServed } from './served';
import { showViewer } from './viewer';

/**
 * The text of an element of the page; null if there is none.
 */
function textOf(id: string): string | null {
  return document.getElementById(id)?.textContent ?? null;
}

// The page contains the script that lays out graphs, and the report or the address of
// a server that has it. Otherwise the report comes from whatever embeds the page.
setWorkerFactory(fromText(textOf('layout-worker') ?? ''));
const report = textOf('report');
const packed = textOf('packed-report');
const requests = textOf('requests');
const line = document.getElementById('loading');
const start = document.getElementById('viewer');
if (report !== null) {
  fillInPlaceOf(line, () => showSaved(report));
} else if (packed !== null) {
  unpackReport(packed).then(
    text => fillInPlaceOf(line, () => showSaved(text)),
    (error: Error) => refusePacked(line, error)
  );
} else if (requests !== null) {
  fillInPlaceOf(line, () => showServed(requests));
} else if (start !== null) {
  showViewer(start);
} else {
  fillInPlaceOf(line, showLive);
}
