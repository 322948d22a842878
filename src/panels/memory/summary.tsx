import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Memory } from '../../protocol/types';
import { formatBytes } from '../../words/format';
import { Fact } from '../common';

/**
 * The peak, and the peaks without reuse and without fusion.
 */
export function Summary(props: {
  memory: Memory;
  trans: TranslationBundle;
}): JSX.Element {
  const { memory, trans } = props;
  const assumed = Object.entries(memory.assumed);
  return (
    <dl className="jp-Compilescope-memorySummary">
      {memory.peaks.length > 0 ? (
        memory.peaks.map(({ title, text, note }) => (
          <Fact key={title} label={title} title={note}>
            {text}
          </Fact>
        ))
      ) : (
        // A file of an earlier version has only the figures.
        <Fact label={trans.__('Peak')}>{formatBytes(memory.peak_bytes)}</Fact>
      )}
      {assumed.length > 0 && (
        <Fact label={trans.__('For')}>
          {assumed.map(([name, size]) => `${name} = ${size}`).join(', ')}
        </Fact>
      )}
    </dl>
  );
}
