import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Speedup } from '../../protocol/types';

/**
 * The speedup of a variant over another, as the kernel states it: the same
 * words and figure wherever the pair is shown. Gray if uncertain.
 */
export function SpeedupText(props: {
  speedup: Speedup;
  trans: TranslationBundle;
}): JSX.Element {
  const { speedup } = props;
  return (
    <span className={speedupClass(speedup)} title={speedup.detail}>
      {speedup.text}
    </span>
  );
}

/**
 * The CSS class for a speedup or slowdown.
 */
export function speedupClass(speedup: Speedup | null): string {
  switch (speedup?.standing) {
    case 'faster':
      return 'jp-mod-up';
    case 'slower':
      return 'jp-mod-down';
    default:
      return 'jp-Compilescope-muted';
  }
}
