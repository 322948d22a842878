import type { TranslationBundle } from '@jupyterlab/translation';
import type { Layer } from '../protocol/types';
import { LAYER_KINDS } from '../protocol/types';

/**
 * The layers of a call, from the outside in.
 */
export const LAYER_ORDER = Object.keys(LAYER_KINDS) as Layer['kind'][];

/**
 * What a layer is called, in the reader's language.
 */
export function layerTitle(
  kind: Layer['kind'],
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'guards':
      return trans.__('Dynamo entry and guards');
    case 'bytecode':
      return trans.__('Dynamo bytecode');
    case 'aot':
      return trans.__('AOTAutograd runtime');
    case 'inductor':
      return trans.__('Inductor entry');
    case 'wrapper':
      return trans.__('wrapper');
    case 'launches':
      return trans.__('kernel launches');
    case 'kernels':
      return trans.__('kernels');
    case 'idle':
      return trans.__('waiting');
    case 'eager':
      return trans.__('eager');
    case 'other':
      return trans.__('not attributed');
  }
}

/**
 * The class of an element in a layer's colour.
 */
export function layerClass(kind: Layer['kind']): string {
  return `jp-Compilescope-layer jp-mod-${kind}`;
}
