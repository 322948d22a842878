import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { JobState } from '../../../protocol/types';

/**
 * How often the time is looked at, in milliseconds.
 */
const TICK = 1000;

/**
 * How long work of a kind took before.
 */
export type IUsualDuration = Pick<JobState, 'about_s' | 'longest_s'>;

/**
 * How long something has been going on, once that is over a second, and how
 * long it usually does, where that is known. It is not read out: a screen
 * reader would do so every second.
 *
 * @param props.since - When it began (`Date.now()`); when this was first shown,
 * unless it is given.
 */
export function Elapsed(props: {
  since?: number;
  usual?: IUsualDuration;
  trans: TranslationBundle;
}): JSX.Element | null {
  const [shown] = React.useState(() => Date.now());
  const [now, setNow] = React.useState(shown);
  React.useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), TICK);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((now - (props.since ?? shown)) / 1000);
  const text = formatWaiting(seconds, props.usual, props.trans);
  return text ? (
    <span className="jp-Compilescope-elapsed" aria-hidden="true">
      {text}
    </span>
  ) : null;
}

/**
 * `12 s of about 40 s`; from there to the longest that it ever took just
 * `45 s`, then `52 s, longer than usual`.
 */
export function formatWaiting(
  seconds: number,
  usual: IUsualDuration | undefined,
  trans: TranslationBundle
): string {
  const elapsed = seconds < 1 ? '' : formatElapsed(seconds, trans);
  const { about_s: about, longest_s: longest } = usual ?? {};
  if (typeof about !== 'number' || typeof longest !== 'number') {
    return elapsed;
  }
  if (seconds > longest) {
    return trans.__('%1, longer than usual', elapsed);
  }
  if (seconds > about) {
    return elapsed;
  }
  const usualTime = formatElapsed(about, trans);
  return elapsed
    ? trans.__('%1 of about %2', elapsed, usualTime)
    : trans.__('about %1', usualTime);
}

/**
 * Whole seconds as text: `12 s`, `1 min 05 s`.
 */
function formatElapsed(seconds: number, trans: TranslationBundle): string {
  return seconds < 60
    ? trans.__('%1 s', seconds)
    : trans.__(
        '%1 min %2 s',
        Math.floor(seconds / 60),
        String(seconds % 60).padStart(2, '0')
      );
}
