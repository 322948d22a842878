import type { StateEffect } from '@codemirror/state';
import type { INotes } from '../notes';
import { setCosts } from './costs';
import { setDecisions } from './decisions';
import { setTimes } from './times';

/** Shows the notes on lines in an editor. */
export function noteEffects(notes: INotes): StateEffect<unknown>[] {
  return [
    setTimes.of(notes.times),
    setCosts.of(notes.costs),
    setDecisions.of(notes.decisions)
  ];
}
