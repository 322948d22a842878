import type { TranslationBundle } from '@jupyterlab/translation';
import type { Problem } from '../../../code/types';

/**
 * A problem, or a plain message, in the middle of an empty pane. Everything is
 * text, never markup.
 */
export function renderMessage(
  problem: Pick<Problem, 'what'> & Partial<Problem>,
  trans: TranslationBundle
): HTMLElement {
  const node = document.createElement('div');
  const severity = problem.severity ?? 'info';
  node.className = `jp-Compilescope-code-message jp-mod-${severity}`;
  node.setAttribute('role', severity === 'error' ? 'alert' : 'status');
  paragraph(node, 'jp-Compilescope-code-what', problem.what);
  paragraph(node, 'jp-Compilescope-code-why', problem.why);
  paragraph(node, 'jp-Compilescope-code-remedy', problem.remedy);
  if (problem.where) {
    const { file, line } = problem.where;
    paragraph(node, 'jp-Compilescope-code-where', `${file}:${line}`);
  }
  if (problem.detail) {
    const details = node.appendChild(document.createElement('details'));
    const summary = details.appendChild(document.createElement('summary'));
    summary.textContent = trans.__('Details');
    const text = details.appendChild(document.createElement('pre'));
    text.textContent = problem.detail;
    text.tabIndex = 0;
  }
  return node;
}

function paragraph(
  parent: HTMLElement,
  className: string,
  text: string | undefined
): void {
  if (text) {
    const node = parent.appendChild(document.createElement('p'));
    node.className = className;
    node.textContent = text;
  }
}
