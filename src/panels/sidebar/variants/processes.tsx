import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { ProcessSummary } from '../../../protocol/types';
import { Section } from '../section';

/**
 * The processes of a trace and what each compiled: none of it was called or
 * measured here.
 */
export function Processes(props: {
  processes: readonly ProcessSummary[];
  onShow: (name: string) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { processes, onShow, trans } = props;
  return (
    <Section name="processes" title={trans.__('Processes')}>
      <ul className="jp-Compilescope-processes">
        {processes.map(process => (
          <li key={process.name}>
            <button
              type="button"
              className="jp-Compilescope-link"
              title={trans.__('Show the code of %1', process.name)}
              onClick={() => onShow(process.name)}
            >
              {process.name}
            </button>
            <span className="jp-Compilescope-muted">
              {process.counts.join(' · ')}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
