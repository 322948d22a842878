import type { TranslationBundle } from '@jupyterlab/translation';
import type { Region, SourceLine } from './types';

/** The title of a kind of region. */
export function kindLabel(
  kind: Region['kind'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'kernel':
      return trans.__('Kernel definition');
    case 'launch':
      return trans.__('Kernel launch');
    case 'alloc':
      return trans.__('Allocation');
    case 'free':
      return trans.__('Release');
    case 'guard':
      return trans.__('Input check');
    case 'return':
      return trans.__('Return');
    case 'entry':
      return trans.__('Entry point');
    case 'line':
      return trans.__('Line of the kernel');
  }
}

/** A region in a few words: its kernel, or its label, or its kind; a line as it stands. */
export function title(region: Region, trans: TranslationBundle): string {
  const { kernel, kind, label } = region;
  return (
    (kind === 'line' ? label : kernel || label) || kindLabel(region.kind, trans)
  );
}

/**
 * The source line that stands for a region: the innermost one in the user's cell, or else the
 * innermost one. (A layer's own code lies deeper than the call that the user wrote.)
 */
export function mainSource(
  region: Region,
  files: Readonly<Record<string, string>>
): SourceLine | null {
  const inCells = region.sources.filter(source => source.file in files);
  const list = inCells.length ? inCells : region.sources;
  return list[list.length - 1] ?? null;
}

/**
 * A list shortened to a number of items, with the number of those left out.
 */
export function shortList(
  items: readonly string[],
  limit: number,
  trans: TranslationBundle
): string {
  const more = items.length - limit;
  return more > 0
    ? trans.__('%1 and %2 more', items.slice(0, limit).join(', '), more)
    : items.join(', ');
}
