import type { TranslationBundle } from '@jupyterlab/translation';
import type { ColorMode, ISwatch } from '../../graph/color/coloring';
import type { Basis } from '../../graph/grouping/owners';
import { STAGES } from '../../protocol/types';
import { formatCount } from '../../words/format';

/**
 * The title of a stage.
 */
export function stageTitle(stage: string, trans: TranslationBundle): string {
  const title = STAGES[stage] ?? stage;
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/**
 * The label of a coloring.
 */
export function modeTitle(mode: ColorMode, trans: TranslationBundle): string {
  return {
    kernel: trans.__('Kernel'),
    time: trans.__('Time'),
    dtype: trans.__('Dtype'),
    kind: trans.__('Kind of operator'),
    change: trans.__('What changed')
  }[mode];
}

/**
 * The label of a grouping.
 */
export function basisTitle(basis: Basis, trans: TranslationBundle): string {
  return {
    module: trans.__('Module'),
    function: trans.__('Function'),
    kernel: trans.__('Kernel'),
    none: trans.__('Nothing')
  }[basis];
}

/**
 * The label of an entry of the legend.
 */
export function swatchTitle(
  mode: ColorMode,
  { id }: ISwatch,
  trans: TranslationBundle
): string {
  if (mode === 'change') {
    return (
      {
        added: trans.__('added'),
        rewritten: trans.__('rewritten'),
        renamed: trans.__('renamed'),
        removed: trans.__('removed'),
        same: trans.__('unchanged')
      }[id] ?? id
    );
  }
  if (mode === 'kind') {
    return (
      {
        matmul: trans.__('matrix product'),
        convolution: trans.__('convolution'),
        attention: trans.__('attention'),
        normalization: trans.__('normalization'),
        reduction: trans.__('reduction'),
        pointwise: trans.__('pointwise'),
        view: trans.__('view'),
        memory: trans.__('copy, creation, indexing'),
        collective: trans.__('collective'),
        outside: trans.__('input, output'),
        other: trans.__('other')
      }[id] ?? id
    );
  }
  return id;
}

/**
 * `69 nodes`.
 */
export function countNodes(count: number, trans: TranslationBundle): string {
  return trans._n('%2 node', '%2 nodes', count, formatCount(count));
}
