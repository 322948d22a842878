import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

/**
 * How often the time is looked at, in milliseconds.
 */
const TICK = 1000;

/**
 * How long something has been going on, once that is over a second. It is not
 * read out: a screen reader would do so every second.
 *
 * @param props.since - When it began (`Date.now()`); when this was first shown,
 * unless it is given.
 */
export function Elapsed(props: {
  since?: number;
  trans: TranslationBundle;
}): JSX.Element | null {
  const [shown] = React.useState(() => Date.now());
  const [now, setNow] = React.useState(shown);
  React.useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), TICK);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((now - (props.since ?? shown)) / 1000);
  return seconds < 1 ? null : (
    <span className="jp-Compilescope-elapsed" aria-hidden="true">
      {formatElapsed(seconds, props.trans)}
    </span>
  );
}

/**
 * Whole seconds as text: `12 s`, `1 min 05 s`.
 */
export function formatElapsed(
  seconds: number,
  trans: TranslationBundle
): string {
  return seconds < 60
    ? trans.__('%1 s', seconds)
    : trans.__(
        '%1 min %2 s',
        Math.floor(seconds / 60),
        String(seconds % 60).padStart(2, '0')
      );
}
