import type { ISubjectModel } from '../tokens';

/**
 * The name of the frame of one of the shown variant's compilations; empty where
 * torch did not say.
 */
export function frameName(model: ISubjectModel, id: string): string {
  const variant = model.report?.variants.find(
    ({ name }) => name === model.variant
  );
  return (
    variant?.compilations.find(compilation => compilation.id === id)?.name ?? ''
  );
}
