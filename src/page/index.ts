import '@lumino/widgets/style/index.css';
import '../../style/index.css';
import '../../style/page.css';
import { fromText, setWorkerFactory } from '../graph/worker/factory';
import { showLive } from './live';
import { unpackReport } from './packed';
import { showSaved } from './saved';
import { showServed } from './served';

/**
 * The text of an element of the page; null if there is none.
 */
function textOf(id: string): string | null {
  return document.getElementById(id)?.textContent ?? null;
}

// The script that lays out graphs stands in the page, and so does the report,
// or the address of a server that has it. Else whoever shows the page has it.
setWorkerFactory(fromText(textOf('layout-worker') ?? ''));
const report = textOf('report');
const packed = textOf('packed-report');
const requests = textOf('requests');
if (report !== null) {
  showSaved(report);
} else if (packed !== null) {
  unpackReport(packed).then(showSaved, (error: Error) => {
    document.body.append(
      `The report in this page cannot be unpacked: ${error.message}. It may be cut off, or the browser too old.`
    );
  });
} else if (requests !== null) {
  showServed(requests);
} else {
  showLive();
}
