import * as React from 'react';
import { problemOf } from '../../protocol/client';
import type { TraceDifference } from '../../protocol/types';
import type { IViewContext } from '../views';
import { Difference } from './difference';

/**
 * The differences from another trace, which the user can select where files are
 * accessible.
 */
export function Comparison(props: {
  difference: TraceDifference | null;
  context: IViewContext;
}): JSX.Element | null {
  const { difference, context } = props;
  const { model, trans, chooseTrace } = context;
  const [path, setPath] = React.useState<string | null>(null);
  const [state, setState] = React.useState<'' | 'busy' | { error: string }>('');
  const compare = async (other: string, every: boolean) => {
    setPath(other);
    setState('busy');
    try {
      await model.compareTrace(other, every);
      setState('');
    } catch (error) {
      setState({ error: problemOf(error).what });
    }
  };
  const choose = async () => {
    const other = await chooseTrace?.();
    if (other) {
      await compare(other, false);
    }
  };
  if (!difference && !chooseTrace) {
    return null;
  }
  const isBusy = state === 'busy';
  const isWhole =
    difference?.processes.every(process => process.unread === 0) ?? true;
  return (
    <section>
      <h3>
        {difference
          ? trans.__('Compared: %1 → %2', difference.before, difference.after)
          : trans.__('Before and after a change')}
      </h3>
      {!difference && (
        <p>
          {trans.__(
            'Compare with a trace of the same job from before an upgrade or a code change: what is newly compiled, what compiles more slowly, and which graphs, kernels and guards changed.'
          )}
        </p>
      )}
      {difference && <Difference difference={difference} context={context} />}
      {chooseTrace && (
        <div className="jp-Compilescope-traceControls">
          <button
            type="button"
            className="jp-Compilescope-button"
            disabled={isBusy}
            onClick={() => void choose()}
          >
            {trans.__('Compare with another trace…')}
          </button>
          {!isWhole && path !== null && (
            <button
              type="button"
              className="jp-Compilescope-button"
              disabled={isBusy}
              onClick={() => void compare(path, true)}
            >
              {trans.__('Compare all')}
            </button>
          )}
        </div>
      )}
      {state !== '' && (
        <div role="status">
          {state === 'busy'
            ? trans.__('Comparing with %1…', path ?? '')
            : state.error}
        </div>
      )}
    </section>
  );
}
