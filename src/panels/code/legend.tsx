import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { formatMicroseconds } from '../../words/format';
import { KIND_ORDER, kindClass, kindTitle } from '../../words/steps';
import type { Side } from '../../code/artifacts';
import type { ICosts } from '../../code/costs';
import { SIDES } from '../../code/sides';

/**
 * What the legend shows.
 */
export interface ILegendState {
  costs: Readonly<Record<Side, ICosts | null>>;
  /** Whether space is limited: then it is folded until it is opened. */
  stacked: boolean;
}

/**
 * The meaning of the colors beside the lines, and the cost of each kind of step
 * on either side.
 */
export class CostLegend extends ReactWidget {
  constructor(trans: TranslationBundle) {
    super();
    this._trans = trans;
    this.addClass('jp-Compilescope-code-legend');
    this.hide();
  }

  set state(state: ILegendState) {
    const { left, right } = state.costs;
    this._state = state;
    this.setHidden(left === null && right === null);
    this.update();
  }

  protected override render(): JSX.Element | null {
    return this._state && <Legend {...this._state} trans={this._trans} />;
  }

  private _state: ILegendState | null = null;
  private _trans: TranslationBundle;
}

function Legend(
  props: ILegendState & { trans: TranslationBundle }
): JSX.Element {
  const { costs, stacked, trans } = props;
  const [chosen, setChosen] = React.useState<boolean | null>(null);
  const isOpen = chosen ?? !stacked;
  const shown = SIDES.filter(side => costs[side] !== null);
  const onSides = (of: (costs: ICosts) => number | null) =>
    shown
      .map(side => {
        const us = of(costs[side]!);
        const figure = us === null ? '–' : formatMicroseconds(us);
        return side === 'left'
          ? trans.__('%1 left', figure)
          : trans.__('%1 right', figure);
      })
      .join(', ');
  const kinds = KIND_ORDER.filter(kind =>
    shown.some(side => costs[side]!.kinds.some(sum => sum.kind === kind))
  );
  return (
    <>
      <button
        type="button"
        className="jp-Compilescope-code-legendHead"
        aria-expanded={isOpen}
        title={trans.__(
          'Host time, read from a clock between the steps; it excludes work on a device. The whole call was also timed without instrumentation.'
        )}
        onClick={() => setChosen(!isOpen)}
      >
        <span aria-hidden="true">{isOpen ? '▾ ' : '▸ '}</span>
        {trans.__(
          'Steps of a call: %1 in total; whole call %2',
          onSides(({ sum_us }) => sum_us),
          onSides(({ whole_us }) => whole_us)
        )}
      </button>
      {isOpen && (
        <ul aria-label={trans.__('Cost by kind of step')}>
          {kinds.map(kind => (
            <li key={kind}>
              <span className={kindClass(kind)} aria-hidden="true" />
              {kindTitle(kind)}{' '}
              <span className="jp-Compilescope-code-legendTime">
                {onSides(
                  ({ kinds: sums }) =>
                    sums.find(sum => sum.kind === kind)?.us ?? null
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
