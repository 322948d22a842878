/**
 * A saved page without its report: what stands before and after it.
 */
export interface IPage {
  readonly before: string;
  readonly after: string;
}

const BEGIN = '<script type="application/json" id="report">';
const END = '</script>';

/**
 * Take a page apart; null where it shows its report without scripts, as that of
 * a kernel without the built views does.
 */
export function splitPage(
  text: string
): { page: IPage; report: string } | null {
  const begin = text.indexOf(BEGIN);
  if (begin < 0) {
    return null;
  }
  const first = begin + BEGIN.length;
  const end = text.indexOf(END, first);
  return {
    page: { before: text.slice(0, first), after: text.slice(end) },
    report: text.slice(first, end)
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
