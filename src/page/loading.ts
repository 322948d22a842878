import { RequestError } from '../protocol/errors';

/**
 * Fill the page and remove its loading line; if filling it fails, the line is replaced
 * by the error.
 */
export function fillInPlaceOf(
  line: HTMLElement | null,
  fill: () => void
): void {
  try {
    fill();
    line?.remove();
  } catch (error) {
    showProblem(line, error);
    throw error;
  }
}

/**
 * Say why there is nothing in the page.
 */
export function showProblem(line: HTMLElement | null, error: unknown): void {
  if (line === null) {
    return;
  }
  line.setAttribute('role', 'alert');
  if (error instanceof RequestError) {
    const { what, why, remedy } = error.problem;
    line.textContent = `${what} ${why} ${remedy}`;
  } else {
    line.textContent = `The report in this page cannot be shown: ${String(error)}`;
  }
}

/**
 * Say why what the page holds compressed cannot be unpacked.
 */
export function refusePacked(line: HTMLElement | null, error: Error): void {
  showProblem(
    line,
    `${error.message}. It may be cut off, or the browser too old.`
  );
}
