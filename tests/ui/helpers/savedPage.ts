import { execFileSync } from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import { pathToFileURL } from 'url';

/**
 * The reports that are stored for tests.
 */
export const REPORTS = path.resolve(__dirname, '../../data/reports');

/**
 * Save a stored report as a page.
 *
 * @param name - The report's.
 * @param change - Python that changes the report `r` before.
 * @param reports - The folder that the report is in.
 * @returns The page's address.
 */
export function savePage(name: string, change = '', reports = REPORTS): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cs-page-'));
  const file = path.join(folder, `${name}.html`);
  const report = path.join(reports, `${name}.compilescope.json`);
  const code = `import sys, compilescope as cs\nr = cs.load(sys.argv[1])\n${change}\nr.save(sys.argv[2])`;
  execFileSync('python', ['-c', code, report, file]);
  return pathToFileURL(file).href;
}
