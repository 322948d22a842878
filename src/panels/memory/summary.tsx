import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Memory } from '../../protocol/types';
import { formatBytes, formatShare } from '../../words/format';
import { Fact } from '../common';

/**
 * A peak that is at most so much of another is told as a saving.
 */
const NOTABLE = 0.99;

/**
 * The peak, and what it would be without reuse and without fusion.
 */
export function Summary(props: {
  memory: Memory;
  trans: TranslationBundle;
}): JSX.Element {
  const { memory, trans } = props;
  const { peak_bytes: peak } = memory;
  const assumed = Object.entries(memory.assumed);
  const against = (bytes: number) =>
    peak < bytes * NOTABLE
      ? trans.__(
          '%1 (%2 less now)',
          formatBytes(bytes),
          formatShare(1 - peak / bytes)
        )
      : formatBytes(bytes);
  return (
    <dl className="jp-Compilescope-memorySummary">
      <Fact label={trans.__('Peak')}>{formatBytes(peak)}</Fact>
      <Fact
        label={trans.__('Without reuse')}
        title={trans.__('If no buffer were reused, or freed before the end')}
      >
        {against(memory.peak_without_reuse_bytes)}
      </Fact>
      {memory.peak_unfused_bytes !== null && (
        <Fact
          label={trans.__('Unfused')}
          title={trans.__(
            'If each operator wrote its own result, freed after its last use'
          )}
        >
          {against(memory.peak_unfused_bytes)}
        </Fact>
      )}
      {assumed.length > 0 && (
        <Fact label={trans.__('For')}>
          {assumed.map(([name, size]) => `${name} = ${size}`).join(', ')}
        </Fact>
      )}
    </dl>
  );
}
