import type { Layer } from '../protocol/types';
import { LAYER_KINDS } from '../protocol/types';

/**
 * The layers of a call, from the outside in.
 */
export const LAYER_ORDER = Object.keys(LAYER_KINDS) as Layer['kind'][];

/**
 * The title of a layer.
 */
export function layerTitle(kind: Layer['kind']): string {
  return LAYER_KINDS[kind];
}

/**
 * The class of an element in a layer's color.
 */
export function layerClass(kind: Layer['kind']): string {
  return `jp-Compilescope-layer jp-mod-${kind}`;
}
