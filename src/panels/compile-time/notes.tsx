import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import { FIRST_CALL_PARTS } from '../../protocol/types';
import { formatSeconds, formatShare } from '../../words/format';
import type { IViewContext } from '../views';
import { runTitle } from './phrases';
import type { IRunTimes } from './kindTimes';
import { kindTime } from './kindTimes';

/**
 * What the figures cover: the first call, cold and warm, the C++ compiler's
 * part, and what was not measured.
 */
export function Notes(props: {
  variant: VariantReport;
  runs: readonly IRunTimes[];
  context: IViewContext;
}): JSX.Element {
  const { variant, runs, context } = props;
  const { model, trans } = context;
  const { compile_time: cold, warm_compile_time: warm, absent } = variant;
  const isBuilt = variant.stage === 'built';
  return (
    <div className="jp-Compilescope-timeNotes">
      {cold && (
        <p className="jp-Compilescope-timeHeadline">
          {trans.__('First call:')}{' '}
          <strong>{formatSeconds(cold.total_s)}</strong>{' '}
          {cold.cold
            ? trans.__('with cold caches')
            : trans.__('with warm caches')}
          {warm && (
            <>
              {', '}
              <strong>{formatSeconds(warm.total_s)}</strong>{' '}
              {trans.__('with warm caches')}
            </>
          )}
        </p>
      )}
      <Compiler {...props} />
      {!isBuilt && (
        <p className="jp-Compilescope-timeNote">
          <span>
            {trans.__(
              'The code was generated but not built: the times exclude the build.'
            )}
          </span>
          {model.isLive && (
            <button
              type="button"
              className="jp-Compilescope-button"
              onClick={() => void model.run()}
            >
              {trans.__('Build and time')}
            </button>
          )}
        </p>
      )}
      {isBuilt &&
        !variant.recorded &&
        !runs.some(({ run }) => run === 'warm') && (
          <p className="jp-Compilescope-hint">
            {trans.__('Not measured with warm caches.')}{' '}
            {absent.warm_compile_time ?? ''}
          </p>
        )}
      {runs.every(({ kinds }) => kinds.length === 0) && cold && (
        <Parts parts={cold.parts} />
      )}
    </div>
  );
}

/** The C++ compiler's part, which none of torch's settings can shorten. */
function Compiler(props: {
  runs: readonly IRunTimes[];
  context: IViewContext;
}): JSX.Element | null {
  const { trans } = props.context;
  const parts = props.runs.map(times => {
    const { run, whole } = times;
    const { self_us, parallel_us } = kindTime(times, 'cpp_build');
    const text =
      self_us > 0
        ? `${formatSeconds(self_us / 1e6)} (${formatShare(self_us / whole)})`
        : trans.__('none');
    return {
      busy: self_us + parallel_us,
      text: [
        run === 'recorded' ? text : `${runTitle(run, trans)} ${text}`,
        parallel_us > 0 &&
          trans.__(
            '%1 summed over other threads',
            formatSeconds(parallel_us / 1e6)
          )
      ]
        .filter(Boolean)
        .join(', ')
    };
  });
  return parts.some(({ busy }) => busy > 0) ? (
    <p>
      {trans.__('C++ compiler:')} {parts.map(({ text }) => text).join('; ')}
    </p>
  ) : null;
}

/** What is known without phases, or from a file without their sums. */
function Parts(props: { parts: Record<string, number> }): JSX.Element {
  return (
    <dl>
      {Object.entries(props.parts).map(([name, seconds]) => (
        <div key={name}>
          <dt>{FIRST_CALL_PARTS[name] ?? name}</dt>
          <dd>{formatSeconds(seconds)}</dd>
        </div>
      ))}
    </dl>
  );
}
