import { FileConnection, readReport } from '../model/file';
import { showModel } from './still';

/**
 * Show a report that stands in the page.
 */
export function showSaved(text: string): void {
  const report = readReport(text);
  showModel(report.created).connection = new FileConnection(report);
}
