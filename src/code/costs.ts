import type { Step, Steps, StepSum } from '../protocol/types';
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
 * @param all Of a compilation. Of further graphs of a direction there is no text.
 */
export function costsOf(
  all: readonly Steps[],
  artifact: string
): ICosts | null {
  const own = all.find(
    each =>
      `${each.direction === 'backward' ? 'backward.' : ''}${each.artifact}` ===
      artifact
  );
  if (!own || own.whole_us === null) {
    return null;
  }
  const byLine = new Map<number, Step>();
  for (const step of own.steps) {
    for (let line = step.start; line <= step.end; line++) {
      byLine.set(line, step);
    }
  }
  return {
    steps: own.steps,
    kinds: own.kinds,
    byLine,
    longest: Math.max(0, ...own.steps.map(({ us }) => us ?? 0)),
    sum_us: own.sum_us ?? 0,
    whole_us: own.whole_us
  };
}

/**
 * What the cursor's step, or the selected one, costs on either side.
 */
export interface ITold {
  readonly kind: Step['kind'];
  readonly left: Step | null;
  readonly right: Step | null;
}

/**
 * The step of a line and its partner on the other side; null where the line has none.
 */
export function tell(
  costs: Readonly<Record<Side, ICosts | null>>,
  side: Side,
  line: number
): ITold | null {
  const own = costs[side]?.byLine.get(line) ?? null;
  return own && { kind: own.kind, ...pair(costs, own.key), [side]: own };
}

/**
 * The steps of a key on both sides; null where neither has one.
 */
export function tellKey(
  costs: Readonly<Record<Side, ICosts | null>>,
  key: string | null
): ITold | null {
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
