import type {
  Compilation,
  CompilationPart,
  VariantReport
} from '../../protocol/types';
import type { IViewContext } from '../views';

/**
 * The maximum number of compilations of a variant that are read.
 */
const MAX_COMPILATIONS = 50;

/**
 * An item of a compilation.
 */
export interface ICompilationItem<T> {
  readonly variant: string;
  readonly compilation: string;
  readonly item: T;
}

/**
 * The items, and the number of compilations that were not read.
 */
export interface IFindings<T> {
  readonly rows: readonly ICompilationItem<T>[];
  readonly omitted: number;
}

/**
 * Reads a part of each compilation of some variants.
 *
 * @param select - The items of a compilation: none, one, or several.
 */
export async function findEverywhere<T>(
  variants: readonly VariantReport[],
  { model }: IViewContext,
  part: CompilationPart,
  select: (compilation: Compilation) => readonly T[]
): Promise<IFindings<T>> {
  let omitted = 0;
  const places = variants.flatMap(({ name, compilations }) => {
    const read = compilations.slice(0, MAX_COMPILATIONS);
    omitted += compilations.length - read.length;
    return read.map(({ id }) => ({ variant: name, compilation: id }));
  });
  const perPlace = await Promise.all(
    places.map(async place => {
      const { variant, compilation } = place;
      const answer = await model.getCompilation(variant, compilation, [part]);
      return select(answer).map(item => ({ ...place, item }));
    })
  );
  return { rows: perPlace.flat(), omitted };
}
