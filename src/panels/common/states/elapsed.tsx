import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { JobState } from '../../../protocol/types';
import { formatElapsed } from '../../../words/format';

/**
 * How often the elapsed time is updated, in milliseconds.
 */
const TICK = 1000;

/**
 * The words for the elapsed time of an activity that is not a job.
 */
const ELAPSED: JobState['time_words'] = [[1, '{elapsed}']];

/**
 * How long something has been running, and how long it usually takes, in a
 * job's words. It is not announced: a screen reader would do so every second.
 *
 * @param props.since - When it began (`Date.now()`); by default, when this was
 * first shown.
 * @param props.words - The job's words, if it is one.
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
 * The words for the elapsed time: the last ones whose time has come.
 */
export function formatTime(
  seconds: number,
  words: JobState['time_words'],
  trans: TranslationBundle
): string {
  const begun = words.filter(([from]) => seconds >= from).pop();
  return begun?.[1].replace('{elapsed}', formatElapsed(seconds, trans)) ?? '';
}
