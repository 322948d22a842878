import type { TranslationBundle } from '@jupyterlab/translation';
import type { CompilationSummary } from '../protocol/types';
import { formatFrame } from './format';

/**
 * What the frame of a compilation is called: its function, without the file that
 * a notebook's cell was compiled from.
 */
export function frameName(
  { where, frame }: Pick<CompilationSummary, 'where' | 'frame'>,
  trans: TranslationBundle
): string {
  return where?.function ? formatFrame(where.function, trans) : frame;
}
