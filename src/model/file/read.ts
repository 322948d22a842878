import type { Report } from '../../protocol/types';
import { conformReport } from '../../protocol/conform';
import { NonconformityError } from '../../protocol/conformity';
import { missing } from './missing';

/**
 * The version of the struct that this front end reads; as `SCHEMA_VERSION`.
 */
const SCHEMA_VERSION = 1;

/**
 * Read a report from a file's text.
 *
 * @throws RequestError: the text is no report, or one of a later version.
 */
export function readReport(text: string): Report {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw missing(
      'The file is not JSON, or was cut off.',
      (error as Error).message,
      'Save the report again.'
    );
  }
  const { schema_version: version } = (data ?? {}) as Partial<Report>;
  if (typeof version === 'number' && version > SCHEMA_VERSION) {
    throw missing(
      'The report was written by a later compilescope.',
      `It has version ${version} of the format; this one reads up to ${SCHEMA_VERSION}.`,
      'Upgrade jupyterlab-compilescope.'
    );
  }
  try {
    // The value itself is completed, not a copy: a report may have some hundred
    // thousand nodes. Fields that are not known are kept.
    conformReport(data);
    return data as Report;
  } catch (error) {
    if (error instanceof NonconformityError) {
      throw missing(
        'The file is not a report of compilescope.',
        error.message,
        'Open a file that Report.save or “Save the report” wrote.'
      );
    }
    throw error;
  }
}
