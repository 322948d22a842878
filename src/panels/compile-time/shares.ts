import { compareKinds } from './kinds';
import type { IFlame } from './timeline/spans';

/**
 * How much time a kind of phase takes, in µs.
 */
export interface IShare {
  readonly kind: string;

  /**
   * On the thread that the call waits for: self time, so that the kinds sum to
   * the whole.
   */
  readonly self: number;

  /**
   * On other threads and in other processes, at the same time.
   */
  readonly alongside: number;
}

/**
 * Where the time of some compilations went.
 */
export interface IShares {
  readonly kinds: readonly IShare[];

  /**
   * The sum of all self times, in µs.
   */
  readonly total: number;
}

/**
 * Sum up the time of each kind of phase.
 */
export function sharesOf(flames: readonly IFlame[]): IShares {
  const sums = new Map<string, { self: number; alongside: number }>();
  let total = 0;
  for (const { spans, main } of flames) {
    for (const { kind, self, track } of spans) {
      const sum = sums.get(kind) ?? { self: 0, alongside: 0 };
      sums.set(kind, sum);
      if (track === main) {
        sum.self += self;
        total += self;
      } else {
        sum.alongside += self;
      }
    }
  }
  const kinds = [...sums]
    .map(([kind, sum]) => ({ kind, ...sum }))
    .sort((a, b) => compareKinds(a.kind, b.kind));
  return { kinds, total };
}

/**
 * A kind's times; zeros where it did not occur.
 */
export function shareOf({ kinds }: IShares, kind: string): IShare {
  return (
    kinds.find(share => share.kind === kind) ?? { kind, self: 0, alongside: 0 }
  );
}
