import { StateEffect, StateField, type Extension } from '@codemirror/state';
import { gutter, GutterMarker } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';

/** The time of a launch. */
export interface ILaunchNote {
  text: string;
  details: string;
  /** Whether it is an estimate, which must not look like a measurement. */
  isEstimate: boolean;
}

/** Line → the time of the launch on that line. */
export type LaunchTimes = ReadonlyMap<number, ILaunchNote>;

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
 * The gutter with the time of each launch, next to its line. It has no width
 * while no time is known.
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
        const note = times.get(number);
        return note ? new TimeMarker(note, trans) : null;
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
    readonly note: ILaunchNote,
    readonly trans: TranslationBundle
  ) {
    super();
  }

  override eq({ note }: TimeMarker): boolean {
    return (
      this.note.text === note.text &&
      this.note.details === note.details &&
      this.note.isEstimate === note.isEstimate
    );
  }

  override toDOM(): HTMLElement {
    const { text, details, isEstimate } = this.note;
    const node = document.createElement('span');
    node.title = details;
    if (isEstimate) {
      node.className = 'jp-Compilescope-estimate';
      node.setAttribute(
        'aria-label',
        this.trans.__('estimated, at least %1', text)
      );
    }
    node.textContent = isEstimate ? `≥ ${text}` : text;
    return node;
  }
}
