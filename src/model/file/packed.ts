import { gunzip } from './gzip';

/**
 * How JSON writes the end of a line.
 */
const LINE_END = '\\n';

/**
 * The JSON of a report that `report/saving/page_contents.py` packed.
 */
export async function unpackReport(packed: string): Promise<string> {
  const text = await gunzip(packed);
  const end = text.indexOf('\n');
  const pieces = text.slice(end + 1).split(LINE_END);
  let number = 0;
  return text
    .slice(0, end)
    .split(',')
    .map(step => pieces[(number += Number(step))])
    .join(LINE_END);
}
