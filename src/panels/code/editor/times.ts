import { StateEffect, StateField, type Extension } from '@codemirror/state';
import { gutter, GutterMarker } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LaunchTime } from '../../../protocol/types';
import { formatMicroseconds, launchTimeText } from '../../common';

/** Line → what was measured of the launch there. */
export type LaunchTimes = ReadonlyMap<number, LaunchTime>;

export const NO_TIMES: LaunchTimes = new Map();

export const setTimes = StateEffect.define<LaunchTimes>();

const timesField = StateField.define<LaunchTimes>({
  create: () => NO_TIMES,
  update: (times, transaction) => {
    for (const effect of transaction.effects) {
      if (effect.is(setTimes)) {
        times = effect.value;
      }
    }
    return times;
  }
});

/**
 * The gutter that says how long a launch takes, beside its line. It takes no room while
 * nothing was measured.
 */
export function launchTimes(trans: TranslationBundle): Extension {
  return [
    timesField,
    gutter({
      class: 'jp-Compilescope-code-times',
      lineMarker: (view, line) => {
        const times = view.state.field(timesField);
        if (times.size === 0) {
          return null;
        }
        const number = view.state.doc.lineAt(line.from).number;
        const time = times.get(number);
        return time
          ? new TimeMarker(
              formatMicroseconds(time.us),
              launchTimeText(time, trans)
            )
          : null;
      },
      lineMarkerChange: update =>
        update.transactions.some(transaction =>
          transaction.effects.some(effect => effect.is(setTimes))
        )
    })
  ];
}

class TimeMarker extends GutterMarker {
  constructor(
    readonly text: string,
    readonly details: string
  ) {
    super();
  }

  override eq(other: TimeMarker): boolean {
    return this.text === other.text && this.details === other.details;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('span');
    node.textContent = this.text;
    node.title = this.details;
    return node;
  }
}
