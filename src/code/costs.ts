import type { Step, Steps, StepSum } from '../protocol/types';
import { wrapperName } from '../model/wrappers';
import type { Side } from './artifacts';

/**
 * What the steps of a wrapper cost the host in one call, measured.
 */
export interface ICosts {
  readonly steps: readonly Step[];
  readonly kinds: readonly StepSum[];
  /** Line → the step that it belongs to. */
  readonly byLine: ReadonlyMap<number, Step>;
  /** What the longest step takes, in µs. */
  readonly longest: number;
  readonly sum_us: number;
  /** A call as a whole, in µs. */
  readonly whole_us: number;
}

/**
 * The costs of the wrapper that an artifact is; null where they were not measured.
 *
 * @param allSteps Of a compilation. Of further graphs of a direction there is no text.
 */
export function costsOf(
  allSteps: readonly Steps[],
  artifact: string
): ICosts | null {
  const measured = allSteps.find(
    steps => wrapperName(steps.direction, steps.artifact) === artifact
  );
  if (!measured || measured.whole_us === null) {
    return null;
  }
  const byLine = new Map<number, Step>();
  for (const step of measured.steps) {
    for (let line = step.start; line <= step.end; line++) {
      byLine.set(line, step);
    }
  }
  return {
    steps: measured.steps,
    kinds: measured.kinds,
    byLine,
    longest: Math.max(0, ...measured.steps.map(({ us }) => us ?? 0)),
    sum_us: measured.sum_us ?? 0,
    whole_us: measured.whole_us
  };
}

/**
 * What the cursor's step, or the selected one, costs on either side.
 */
export interface ICursorCosts {
  readonly kind: Step['kind'];
  readonly left: Step | null;
  readonly right: Step | null;
}

/**
 * The step of a line and its partner on the other side; null where the line has none.
 */
export function costsAtLine(
  costs: Readonly<Record<Side, ICosts | null>>,
  side: Side,
  line: number
): ICursorCosts | null {
  const step = costs[side]?.byLine.get(line) ?? null;
  return step && { kind: step.kind, ...pair(costs, step.key), [side]: step };
}

/**
 * The steps of a key on both sides; null where neither has one.
 */
export function costsOfKey(
  costs: Readonly<Record<Side, ICosts | null>>,
  key: string | null
): ICursorCosts | null {
  const steps = pair(costs, key ?? '');
  const first = steps.left ?? steps.right;
  return first && { kind: first.kind, ...steps };
}

function pair(
  { left, right }: Readonly<Record<Side, ICosts | null>>,
  key: string
): Record<Side, Step | null> {
  const find = (costs: ICosts | null) =>
    (key && costs?.steps.find(step => step.key === key)) || null;
  return { left: find(left), right: find(right) };
}
