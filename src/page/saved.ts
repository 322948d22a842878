import { FileConnection, readReport } from '../model/file';
import type { Widget } from '@lumino/widgets';
import { showModel } from './showModel';

/**
 * Show a report, as JSON.
 *
 * @returns What fills the page.
 */
export function showSaved(text: string): Widget {
  const report = readReport(text);
  const { model, page } = showModel(
    report.created,
    report.trace ? 'trace' : undefined
  );
  model.connection = new FileConnection(report);
  return page;
}
