import type { CompilationPart, Decision, Kernel } from '../protocol/types';
import { wrapperName } from '../model/wrappers';
import { isStudied, launchesByLine } from '../words/launches';
import { formatMicroseconds } from '../words/format';
import type { IAddress, Side } from './artifacts';
import { costsOf, type ICosts } from './costs';
import { NO_COSTS, type IDrawnCosts } from './editor/costs';
import { NO_DECISIONS, type Decisions } from './editor/decisions';
import { NO_TIMES, type ILaunchNote, type LaunchTimes } from './editor/times';
import { SIDES } from './sides';
import type { ISubjectModel } from './types';

/** The notes on the lines of a wrapper. */
export interface INotes {
  times: LaunchTimes;
  decisions: Decisions;
  costs: IDrawnCosts;
}

export const NO_NOTES: INotes = {
  times: NO_TIMES,
  decisions: NO_DECISIONS,
  costs: NO_COSTS
};

/**
 * What is said beside the lines of each side: how long launches take and what the steps cost, once
 * they were timed; for a target, what launches take at best and what was decided without the
 * device. Independent of widgets.
 */
export class SideNotes {
  constructor(private _options: SideNotes.IOptions) {}

  /** What the steps of each side cost; null where they were not measured. */
  get costs(): Readonly<Record<Side, ICosts | null>> {
    const { left, right } = this._notes;
    return { left: left.costs.costs, right: right.costs.costs };
  }

  /** The notes of a side. */
  of(side: Side): INotes {
    return this._notes[side];
  }

  /** Update the notes of each side. */
  refresh(): void {
    for (const side of SIDES) {
      const { model, address } = this._options;
      const shown = address(side);
      const parts = shown ? partsOf(model, shown.variant) : [];
      const key =
        shown && parts.length
          ? JSON.stringify([
              model.subject,
              model.report?.revision,
              shown.variant,
              shown.compilation,
              shown.artifact,
              parts
            ])
          : '';
      if (key !== this._known[side]) {
        this._known[side] = key;
        void this._load(side, key, shown, parts);
      }
    }
  }

  private async _load(
    side: Side,
    key: string,
    shown: IAddress | null,
    parts: readonly CompilationPart[]
  ): Promise<void> {
    const { isDisposed, model } = this._options;
    let notes = NO_NOTES;
    if (key && shown) {
      try {
        const { kernels, decisions, steps } = await model.getCompilation(
          shown.variant,
          shown.compilation,
          parts
        );
        notes = {
          times: timesOf(kernels, shown.artifact),
          decisions: decisionsOf(decisions, shown.artifact),
          costs: { costs: costsOf(steps, shown.artifact), longest: 0 }
        };
      } catch {
        // The text itself says why it is not to be had.
      }
    }
    if (key === this._known[side] && !isDisposed()) {
      this._apply({ ...this._notes, [side]: notes });
    }
  }

  /** Both sides draw costs on one scale: a new one concerns the other side, too. */
  private _apply(notes: Record<Side, INotes>): void {
    const longest = Math.max(
      ...SIDES.map(side => notes[side].costs.costs?.longest ?? 0)
    );
    for (const side of SIDES) {
      const { costs } = notes[side].costs;
      const isSame =
        notes[side] === this._notes[side] &&
        (costs === null || notes[side].costs.longest === longest);
      if (!isSame) {
        const drawn = costs ? { costs, longest } : NO_COSTS;
        this._notes = {
          ...this._notes,
          [side]: { ...notes[side], costs: drawn }
        };
        this._options.apply(side, this._notes[side]);
      }
    }
  }

  private _notes: Record<Side, INotes> = { left: NO_NOTES, right: NO_NOTES };
  /** What the notes of each side are of; empty for none. */
  private _known: Record<Side, string> = { left: '', right: '' };
}

/**
 * A namespace for `SideNotes` statics.
 */
export namespace SideNotes {
  /**
   * Where a side's notes come from and go to.
   */
  export interface IOptions {
    model: ISubjectModel;
    /** What a side shows. */
    address: (side: Side) => IAddress | null;
    apply: (side: Side, notes: INotes) => void;
    isDisposed: () => boolean;
  }
}

/** Line → how long the launch there takes: measured, or else estimated. */
export function timesOf(
  kernels: readonly Pick<Kernel, 'direction' | 'launches'>[],
  artifact: string
): LaunchTimes {
  const times = new Map<number, ILaunchNote>();
  for (const [line, launch] of launchesByLine(kernels, artifact)) {
    const { time, least_us: least, estimate } = launch;
    if (time) {
      times.set(line, {
        text: formatMicroseconds(time.us),
        details: time.text,
        isEstimate: false
      });
    } else if (least !== null) {
      times.set(line, {
        text: formatMicroseconds(least),
        details: estimate,
        isEstimate: true
      });
    }
  }
  return times;
}

/** Line → what was decided there without the device, in one of the wrappers. */
export function decisionsOf(
  decisions: readonly Decision[],
  artifact: string
): Decisions {
  const byLine = new Map<number, Decision[]>();
  for (const decision of decisions) {
    for (const [name, lines] of Object.entries(decision.lines)) {
      const isHere = wrapperName(decision.direction, name) === artifact;
      for (const line of isHere ? lines : []) {
        byLine.set(line, [...(byLine.get(line) ?? []), decision]);
      }
    }
  }
  return byLine;
}

/** What has to be read of a variant's compilations for notes; nothing where there are none. */
function partsOf(model: ISubjectModel, variant: string): CompilationPart[] {
  const hasKernels =
    isStudied(model, variant, 'kernels') || targetOf(model, variant) !== null;
  return [
    ...(hasKernels ? (['kernels'] as const) : []),
    ...(isStudied(model, variant, 'steps') ? (['steps'] as const) : [])
  ];
}

/** What the device is called that a variant is for; null where it is that of the arguments. */
function targetOf(model: ISubjectModel, variant: string): string | null {
  const summary = model.report?.variants.find(({ name }) => name === variant);
  return summary?.target?.title ?? null;
}
