import type {
  Compilation,
  CompilationPart,
  VariantReport
} from '../../protocol/types';
import type { IViewContext } from '../views';

/**
 * At most so many compilations of a variant are read.
 */
const MAX_COMPILATIONS = 50;

/**
 * Something of a compilation.
 */
export interface ICompilationItem<T> {
  readonly variant: string;
  readonly compilation: string;
  readonly item: T;
}

/**
 * What was found, and how many compilations were not looked at.
 */
export interface IFindings<T> {
  readonly rows: readonly ICompilationItem<T>[];
  readonly omitted: number;
}

/**
 * Read a part of each compilation of some variants.
 *
 * @param select - What to read of a compilation: none, one, or several.
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
