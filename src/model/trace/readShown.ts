import type { ISubjectModel } from '../../interfaces/subject';

/**
 * Read the shown compilations: a trace lists only outlines, and the choices of
 * views and pickers are known once a compilation was read.
 */
export function readShown(model: ISubjectModel): void {
  const asked = new Set<string>();
  const read = () => {
    const { report, compilation, variant } = model;
    const { left, right } = model.selectedVariants;
    for (const name of new Set([variant, left, right])) {
      const shown = report?.variants
        .find(summary => summary.name === name)
        ?.compilations.find(({ id }) => id === compilation);
      const key = JSON.stringify([name, compilation]);
      if (shown?.reduced && !asked.has(key)) {
        asked.add(key);
        // Where it cannot be read, the view that shows it says why.
        model
          .getCompilation(name, compilation, ['kernels'])
          .catch(() => undefined);
      }
    }
  };
  model.reportChanged.connect(read);
  model.variantChanged.connect(read);
  model.compilationChanged.connect(read);
  model.selectedVariantsChanged.connect(read);
}
