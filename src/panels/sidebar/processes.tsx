import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { ProcessSummary } from '../../protocol/types';
import { formatSeconds } from '../../words/format';
import { Section } from './section';

/**
 * The processes of a trace and what each compiled: nothing of it was called or
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
              {counts(process, trans)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function counts(
  {
    compilations,
    compile_time_s,
    recompiles,
    graph_breaks,
    failures,
    unfinished
  }: ProcessSummary,
  trans: TranslationBundle
): string {
  return [
    trans._n('%1 compilation', '%1 compilations', compilations),
    compile_time_s > 0 && formatSeconds(compile_time_s),
    recompiles > 0 && trans._n('%1 recompile', '%1 recompiles', recompiles),
    graph_breaks > 0 && trans._n('%1 break', '%1 breaks', graph_breaks),
    failures > 0 && trans._n('%1 failure', '%1 failures', failures),
    unfinished.length > 0 && trans.__('%1 unfinished', unfinished.length)
  ]
    .filter(Boolean)
    .join(' · ');
}
