import type { Package, VariantReport } from '../../protocol/types';
import { missing } from './missing';

const PREFIX = 'package:';

/**
 * Whether the name of an artifact is that of a file in a package; this and
 * what follows as `packaged.py`.
 */
export function isPackaged(artifact: string): boolean {
  return artifact.startsWith(PREFIX);
}

/**
 * A file in a variant's package, with its text.
 */
export function packagedOf(
  variant: VariantReport,
  artifact: string
): { path: string; text: string; language: string } {
  const path = artifact.slice(PREFIX.length);
  const found = variant.package?.files.find(each => each.path === path);
  if (!found || found.text === null) {
    throw missing(
      `The package of '${variant.name}' has no text '${path}'.`,
      variant.package?.absent[path] ?? '',
      'Choose another file.'
    );
  }
  return { path, text: found.text, language: found.language };
}

/**
 * A package without its files' texts; an empty one stands for each that there
 * is.
 */
export function withoutTexts(made: Package): Package {
  return {
    ...made,
    files: made.files.map(each => ({
      ...each,
      text: each.text === null ? null : ''
    }))
  };
}
