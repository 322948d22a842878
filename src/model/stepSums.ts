import { Step, Steps } from '../protocol/types';

/**
 * The kinds of steps that either wrapper has, in the order of a call, with their
 * number and cost.
 */
export interface IKindSum {
  readonly kind: Step['kind'];
  readonly python: ISum;
  readonly cpp: ISum;
}

/**
 * Steps of one kind in one wrapper.
 */
export interface ISum {
  readonly count: number;

  /**
   * Null where none of them was measured.
   */
  readonly us: number | null;
}

/**
 * Add up the steps of each kind.
 *
 * @param kinds - In their order.
 */
export function sumKinds(
  kinds: readonly Step['kind'][],
  python: Steps | null,
  cpp: Steps | null
): readonly IKindSum[] {
  return kinds
    .map(kind => ({
      kind,
      python: sumOf(kind, python?.steps ?? []),
      cpp: sumOf(kind, cpp?.steps ?? [])
    }))
    .filter(each => each.python.count + each.cpp.count > 0);
}

/** Add up the steps of one kind. */
export function sumOf(kind: Step['kind'], steps: readonly Step[]): ISum {
  const own = steps.filter(each => each.kind === kind);
  const measured = own.flatMap(({ us }) => (us === null ? [] : [us]));
  return {
    count: own.length,
    us: measured.length ? measured.reduce((sum, us) => sum + us, 0) : null
  };
}
