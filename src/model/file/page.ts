/**
 * A saved page without its report: the text before and after it.
 */
export interface IPage {
  readonly before: string;
  readonly after: string;
}

const BEGIN = '<script type="application/json" id="report">';
const PACKED = '<script type="application/gzip" id="packed-report">';
const END = '</script>';

/**
 * Take a page apart; null where it shows its report without scripts, as that of
 * a kernel without the built views does. `unpackReport` reads a packed report.
 */
export function splitPage(
  text: string
): { page: IPage; report: string; isPacked: boolean } | null {
  const tag = [BEGIN, PACKED].find(marker => text.includes(marker));
  if (tag === undefined) {
    return null;
  }
  const start = text.indexOf(tag);
  const end = text.indexOf(END, start);
  return {
    // Pages that are made of it hold their reports as they are.
    page: { before: text.slice(0, start) + BEGIN, after: text.slice(end) },
    report: text.slice(start + tag.length, end),
    isPacked: tag === PACKED
  };
}

/**
 * The page of a report, as its kernel would write it.
 */
export function joinPage(page: IPage, name: string, report: string): string {
  const title = document.createElement('title');
  title.textContent = `${name} - compilescope`;
  const before = page.before.replace(
    /<title>[^<]*<\/title>/,
    () => title.outerHTML
  );
  // Within a script element nothing may look like its end, or like a comment.
  return before + report.replaceAll('<', '\\u003c') + page.after;
}
