import { gunzip } from '../model/file/gzip';
import { refusePacked } from './loading';

/**
 * Start the views, which a page that is a file holds compressed. This script stands
 * in the page as it is. What it adds is an inline script too, which the page's policy
 * names by its hash: it runs wherever this one does, without `eval` and `blob:`.
 */
async function start(): Promise<void> {
  const [style, script] = await Promise.all([
    unpack('packed-style', 'style'),
    unpack('packed-script', 'script')
  ]);
  document.head.append(style, script);
  // It has run. In a copy that the browser saves of this page it would run first.
  script.remove();
}

/**
 * An element with the text that another element of the page holds compressed.
 */
async function unpack(id: string, tag: string): Promise<HTMLElement> {
  const element = document.createElement(tag);
  element.textContent = await gunzip(
    document.getElementById(id)?.textContent ?? ''
  );
  return element;
}

start().catch(error => {
  refusePacked(document.querySelector('[role=status]'), error as Error);
});
