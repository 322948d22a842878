import * as React from 'react';

/**
 * Up to this width, in pixels, the tabs have two lines, which fit all of them.
 */
const TWO_LINES = 500;

/**
 * The tabs that do not fit into a single line: the last ones, except the open
 * one. A second line would move the view below.
 *
 * @param list - The element that contains the tabs, each with an id.
 * @returns The ids of the tabs that are hidden here, for the menu at the end.
 */
export function useOneLine(
  list: React.RefObject<HTMLElement | null>
): ReadonlySet<string> {
  const [hidden, setHidden] = React.useState('');
  const fit = () => {
    const next = list.current ? fitted(list.current).join(' ') : '';
    setHidden(next);
  };
  React.useLayoutEffect(fit);
  React.useEffect(() => {
    if (!list.current?.parentElement || typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(fit);
    observer.observe(list.current.parentElement);
    return () => observer.disconnect();
  }, []);
  return React.useMemo(
    () => new Set(hidden.split(' ').filter(Boolean)),
    [hidden]
  );
}

/**
 * Hides the tabs that do not fit.
 */
function fitted(list: HTMLElement): string[] {
  const tabs = [...list.querySelectorAll<HTMLElement>('[role=tab]')];
  const hidden: string[] = [];
  for (const tab of tabs) {
    tab.hidden = false;
  }
  const isOneLine = () => {
    const shown = tabs.filter(tab => !tab.hidden);
    return shown.every(tab => tab.offsetTop === shown[0].offsetTop);
  };
  if (list.parentElement!.clientWidth <= TWO_LINES) {
    return hidden;
  }
  for (const tab of tabs.reverse()) {
    if (isOneLine()) {
      break;
    }
    if (tab.getAttribute('aria-selected') !== 'true') {
      tab.hidden = true;
      hidden.unshift(tab.id);
    }
  }
  return hidden;
}
