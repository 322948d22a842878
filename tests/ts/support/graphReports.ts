import * as fs from 'fs';
import * as path from 'path';
import { readReport } from '../../../src/model/file';
import { graphOf } from '../../../src/model/file/texts';
import type { Compilation } from '../../../src/protocol/types';

const REPORTS = path.join(__dirname, '../../data/reports');

/**
 * The first compilation of a real report that has graphs, with all of them: a file
 * has equal graphs once.
 */
export function realCompilation(name: string, variant = 'python'): Compilation {
  const file = path.join(REPORTS, `${name}.compilescope.json`);
  const report = readReport(fs.readFileSync(file, 'utf8'));
  const compilation = report.variants
    .find(candidate => candidate.name === variant)
    ?.compilations.find(candidate => Object.keys(candidate.graphs).length > 0);
  if (!compilation) {
    throw new Error(`${name} has no graph`);
  }
  const stages = Object.keys(compilation.graphs);
  return {
    ...compilation,
    graphs: Object.fromEntries(
      stages.map(stage => [
        stage,
        graphOf(report, variant, compilation.id, stage)
      ])
    )
  };
}
