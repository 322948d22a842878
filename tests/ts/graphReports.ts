import * as fs from 'fs';
import * as path from 'path';
import type { Compilation, Report } from '../../src/protocol/types';

const REPORTS = path.join(__dirname, '../data/reports');

/**
 * The first compilation of a real report that has graphs.
 */
export function realCompilation(name: string, variant = 'python'): Compilation {
  const file = path.join(REPORTS, `${name}.compilescope.json`);
  const report = JSON.parse(fs.readFileSync(file, 'utf8')) as Report;
  const found = report.variants
    .find(each => each.name === variant)
    ?.compilations.find(each => Object.keys(each.graphs).length > 0);
  if (!found) {
    throw new Error(`${name} has no graph`);
  }
  return found;
}
