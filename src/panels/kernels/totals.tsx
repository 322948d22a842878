import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { directionTitle } from '../../words/directions';
import {
  formatBytes,
  formatCount,
  formatMicroseconds,
  formatQuantity
} from '../../words/format';
import { readingText } from '../common/graphs';
import { Estimate } from '../common/estimate';
import type { IRow } from './rows';
import { launchesByDirection, totalsOf } from './rows';

/**
 * The sums of the shown kernels.
 *
 * @param props.of - All rows.
 * @param props.target - The name of the device that the code is for, if it is
 * not available; null if it is the device of the arguments.
 * @param props.waiting - The number of graphs that are still to be loaded.
 */
export function TotalsText(props: {
  rows: readonly IRow[];
  of: readonly IRow[];
  target: string | null;
  waiting: number;
  trans: TranslationBundle;
}): JSX.Element {
  const { rows: shown, of: rows, target, waiting, trans } = props;
  const totals = React.useMemo(() => totalsOf(shown), [shown]);
  const byDirection = React.useMemo(() => launchesByDirection(shown), [shown]);
  return (
    <span className="jp-Compilescope-kernelTotals" role="status">
      {waiting > 0 && `${readingText(waiting, trans)} `}
      {shown.length === rows.length
        ? trans._n(
            '%2 kernel',
            '%2 kernels',
            rows.length,
            formatCount(rows.length)
          )
        : trans.__(
            '%1 of %2 kernels',
            formatCount(shown.length),
            formatCount(rows.length)
          )}
      {', '}
      {trans._n(
        '%2 launch',
        '%2 launches',
        totals.launches,
        formatCount(totals.launches)
      )}
      {byDirection.size > 1 && (
        <span className="jp-Compilescope-muted">
          {` (${[...byDirection]
            .map(
              ([direction, launches]) =>
                `${formatCount(launches)} ${directionTitle(direction, trans)}`
            )
            .join(', ')})`}
        </span>
      )}
      {totals.us !== null && (
        <>
          {', '}
          <strong
            title={trans.__(
              'Measured: the time of one call’s launches on their device'
            )}
          >
            {formatMicroseconds(totals.us)}
          </strong>
          {totals.untimed > 0 && (
            <span className="jp-Compilescope-muted">
              {' '}
              {trans.__('(%1 not measured)', totals.untimed)}
            </span>
          )}
        </>
      )}
      {totals.least !== null && (
        <>
          {', '}
          <Estimate
            value={totals.least}
            exact={formatMicroseconds}
            isLeast
            format={formatMicroseconds}
            of={trans.__(
              'Lower bound for all launches of one call on %1',
              target ?? ''
            )}
            why=""
            trans={trans}
          />
        </>
      )}
      {totals.bytes !== null && (
        <>
          {', '}
          <Estimate
            value={totals.bytes}
            format={formatBytes}
            why=""
            trans={trans}
          />
        </>
      )}
      {totals.operations !== null && (
        <>
          {', '}
          <Estimate
            value={totals.operations}
            format={formatQuantity}
            why=""
            trans={trans}
          />{' '}
          {trans.__('operations')}
        </>
      )}
      {totals.unknown > 0 && totals.bytes !== null && (
        <span className="jp-Compilescope-muted">
          {' '}
          {trans.__('(%1 without an estimate)', totals.unknown)}
        </span>
      )}
    </span>
  );
}
