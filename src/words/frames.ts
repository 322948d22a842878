import type { ISubjectModel } from '../interfaces/subject';

/**
 * The name of the frame of one of a variant's compilations; empty if torch did
 * not log it.
 */
export function frameName(
  model: ISubjectModel,
  variant: string,
  id: string
): string {
  const summary = model.report?.variants.find(({ name }) => name === variant);
  return (
    summary?.compilations.find(compilation => compilation.id === id)?.name ?? ''
  );
}
