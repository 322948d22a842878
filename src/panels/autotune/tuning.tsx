import * as React from 'react';
import { Badge } from '../common';
import {
  formatCount,
  formatMicroseconds,
  formatRatio,
  formatSeconds
} from '../../words/format';
import type { IViewContext } from '../views';
import { Candidates } from './candidates';
import { chosenOf, gainOf, tableOf, type IEqual } from './choices';

/**
 * An autotuning, or several equal ones: a row that expands to the list of
 * candidates. The reason for skipped candidates is above the list.
 */
export function TuningCard(props: {
  equal: IEqual;

  /**
   * Whether it is open initially.
   */
  isOpenFirst: boolean;

  /**
   * Whether its kernel is selected.
   */
  isMarked: boolean;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { isMarked, context, origin } = props;
  const { tuning, count, kernels } = props.equal;
  const { model, trans } = context;
  const id = React.useId();
  const [isOpen, setOpen] = React.useState(props.isOpenFirst);
  const node = React.useRef<HTMLElement>(null);
  React.useEffect(() => {
    if (isMarked && model.selection.origin !== origin) {
      setOpen(true);
      node.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [isMarked]);
  const table = React.useMemo(() => tableOf(tuning), [tuning]);
  const chosen = chosenOf(tuning);
  const gain = gainOf(tuning);
  return (
    <article
      ref={node}
      className={`jp-Compilescope-tuning${isMarked ? ' jp-mod-marked' : ''}`}
    >
      <header>
        <button
          type="button"
          className="jp-Compilescope-tuningToggle"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
          <code>{tuning.operator}</code>
        </button>
        <Badge>
          {tuning.kind === 'config'
            ? trans.__('configuration')
            : trans.__('algorithm')}
        </Badge>
        {count > 1 && <span>× {formatCount(count)}</span>}
        <span className="jp-Compilescope-tuningInputs">
          {tuning.inputs.join(' × ')}
        </span>
        <span className="jp-Compilescope-tuningResult">
          {chosen && (
            <>
              <span aria-hidden="true">✓ </span>
              <span className="jp-Compilescope-hidden">
                {trans.__('chosen:')}{' '}
              </span>
              <code title={chosen.name}>{chosen.name}</code>
              {chosen.time_us !== null && (
                <span>{formatMicroseconds(chosen.time_us)}</span>
              )}
              {gain !== null && (
                <span>
                  {trans.__(
                    '%1 faster than the extern kernel',
                    formatRatio(gain)
                  )}
                </span>
              )}
            </>
          )}
        </span>
      </header>
      <div id={id} hidden={!isOpen} className="jp-Compilescope-tuningBody">
        {isOpen && (
          <>
            <p className="jp-Compilescope-muted">
              {trans._n('%1 candidate', '%1 candidates', tuning.choices.length)}
              {tuning.duration_s !== null &&
                `, ${trans.__('measured in %1', formatSeconds(tuning.duration_s))}`}
              {kernels.map(kernel => (
                <React.Fragment key={kernel}>
                  {', '}
                  <button
                    type="button"
                    className="jp-Compilescope-link jp-mod-code"
                    title={trans.__('Show in Kernels')}
                    onClick={() => {
                      model.select({ kernel, origin });
                      model.showAllGraphs();
                      context.open('kernels');
                    }}
                  >
                    {kernel}
                  </button>
                </React.Fragment>
              ))}
            </p>
            {tuning.choices.length > 0 && (
              <Candidates
                table={table}
                label={trans.__('Candidates for %1', tuning.operator)}
                trans={trans}
              />
            )}
          </>
        )}
      </div>
    </article>
  );
}
