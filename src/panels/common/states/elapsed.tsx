import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { JobState } from '../../../protocol/types';
import { formatElapsed } from '../../../words/format';

/**
 * How often the time is looked at, in milliseconds.
 */
const TICK = 1000;

/**
 * The words for the time of what no job does.
 */
const ELAPSED: JobState['time_words'] = [[1, '{elapsed}']];

/**
 * How long something has been going on, and how long it usually does, in a job's
 * words. It is not read out: a screen reader would do so every second.
 *
 * @param props.since - When it began (`Date.now()`); when this was first shown,
 * unless it is given.
 * @param props.words - Those of the job, if it is one.
 */
export function Elapsed(props: {
  since?: number;
  words?: JobState['time_words'];
  trans: TranslationBundle;
}): JSX.Element | null {
  const [shown] = React.useState(() => Date.now());
  const [now, setNow] = React.useState(shown);
  React.useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), TICK);
    return () => clearInterval(timer);
  }, []);
  const seconds = (now - (props.since ?? shown)) / 1000;
  const text = formatTime(seconds, props.words ?? ELAPSED, props.trans);
  return text ? (
    <span className="jp-Compilescope-elapsed" aria-hidden="true">
      {text}
    </span>
  ) : null;
}

/**
 * The words for the time that has passed: the last that have begun.
 */
export function formatTime(
  seconds: number,
  words: JobState['time_words'],
  trans: TranslationBundle
): string {
  const begun = words.filter(([from]) => seconds >= from).pop();
  return begun?.[1].replace('{elapsed}', formatElapsed(seconds, trans)) ?? '';
}
