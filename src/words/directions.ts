import { TranslationBundle } from '@jupyterlab/translation';
import { Layers } from '../protocol/types';

/**
 * A variant's layers are of inference, or of one direction of training.
 */
export function directionTitle(
  direction: Layers['direction'],
  trans: TranslationBundle
): string {
  switch (direction) {
    case 'inference':
      return trans.__('inference');
    case 'forward':
      return trans.__('forward');
    case 'backward':
      return trans.__('backward');
    case 'step':
      return trans.__('forward and backward');
  }
}
