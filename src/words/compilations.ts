import type { TranslationBundle } from '@jupyterlab/translation';
import type { CompilationSummary } from '../protocol/types';
import { formatPlace } from './format';

/**
 * A compilation in a list of them: its id, its frame, and what calls for a look.
 */
export function compilationTitle(
  compilation: CompilationSummary,
  files: Readonly<Record<string, string>>,
  trans: TranslationBundle
): string {
  const { id, name, where, recompile, reduced } = compilation;
  const place = where && formatPlace(where, files, trans);
  const parts = [place ? `${name} (${place})` : name];
  if (recompile.length) {
    parts.push(trans.__('recompile'));
  }
  if (reduced) {
    parts.push(trans.__('outline only'));
  }
  return [id, ...parts.filter(Boolean)].join(' · ');
}
