/**
 * How JSON writes the end of a line.
 */
const LINE_END = '\\n';

/**
 * The JSON of a report that `views/packing.py` packed.
 */
export async function unpackReport(packed: string): Promise<string> {
  const bytes = Uint8Array.from(atob(packed), each => each.charCodeAt(0));
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'));
  const text = await new Response(stream).text();
  const end = text.indexOf('\n');
  const pieces = text.slice(end + 1).split(LINE_END);
  let number = 0;
  return text
    .slice(0, end)
    .split(',')
    .map(step => pieces[(number += Number(step))])
    .join(LINE_END);
}
