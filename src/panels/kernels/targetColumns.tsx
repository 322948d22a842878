import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { AbsentValue, compareNumbers } from '../common';
import {
  formatBytes,
  formatMicroseconds,
  formatShare
} from '../../words/format';
import type { ColumnChange } from '../common/tables/declared';
import { CheckBadge } from './check';
import { Estimate } from '../common/estimate';
import { limitText } from './phrases';
import type { IRow } from './rows';

/**
 * The lower bound of the time of all launches of a kernel in a call on the
 * target.
 */
export function LeastTime(props: {
  row: IRow;
  trans: TranslationBundle;
}): JSX.Element {
  const { row, trans } = props;
  return (
    <Estimate
      value={row.kernel.least?.us ?? null}
      isLeast
      title={row.kernel.least?.text}
      format={formatMicroseconds}
      why={trans.__('Not estimated for this kernel')}
      trans={trans}
    />
  );
}

export const NO_TARGET = {
  least: false,
  registers: false,
  spills: false,
  shared_bytes: false,
  occupancy: false,
  check: false
} as const;

/**
 * The columns of kernels for a device that is not available: the compiler's
 * figures, the lower bound of their time, and whether they compute the right
 * values.
 *
 * @param beside - The width at which a column appears, given the columns before
 * it.
 */
export function targetColumns(
  trans: TranslationBundle,
  beside: (width: number | undefined) => number | undefined
): Record<keyof typeof NO_TARGET, ColumnChange<IRow>> {
  const resource = (
    id: string,
    width: string,
    from: number | undefined,
    show: (value: number, row: IRow) => React.ReactNode
  ): ColumnChange<IRow> => {
    const of = ({ kernel }: IRow) => kernel.resources[id] ?? null;
    return {
      width,
      from: beside(from),
      hasValue: row => of(row) !== null,
      compare: (a, b) => compareNumbers(of(a), of(b)),
      render: row => {
        const value = of(row);
        return value === null ? (
          <AbsentValue why={whyNot(row, trans)} />
        ) : (
          show(value, row)
        );
      }
    };
  };
  return {
    least: {
      width: '82px',
      compare: (a, b) =>
        compareNumbers(a.kernel.least?.us ?? null, b.kernel.least?.us ?? null),
      render: row => <LeastTime row={row} trans={trans} />
    },
    registers: resource('registers', '48px', 640, value => value),
    spills: resource('spills', '58px', 710, value =>
      value > 0 ? (
        <span className="jp-Compilescope-spills">{formatBytes(value)}</span>
      ) : (
        value
      )
    ),
    shared_bytes: resource('shared_bytes', '70px', 790, value =>
      formatBytes(value)
    ),
    occupancy: resource('occupancy', '78px', 580, (value, { kernel }) => (
      <span title={limitText(kernel.limit, trans)}>{formatShare(value)}</span>
    )),
    check: {
      width: '92px',
      from: beside(420),
      hasValue: ({ kernel }) => kernel.check !== null,
      compare: (a, b) => rank(a) - rank(b),
      render: row => (
        <CheckBadge
          check={row.kernel.check}
          why={
            row.kernel.language === 'extern'
              ? trans.__('Extern kernel: nothing to interpret')
              : (row.kernel.absent.check ?? trans.__('Not checked yet'))
          }
        />
      )
    }
  };
}

/** Kernels whose results differ come first. */
function rank({ kernel: { check } }: IRow): number {
  const order = ['differs', 'not checked', 'agrees'];
  return check ? order.indexOf(check.outcome) : order.length;
}

function whyNot({ kernel }: IRow, trans: TranslationBundle): string {
  const { absent, language } = kernel;
  if (language === 'extern') {
    return trans.__('Extern kernel: not compiled here');
  }
  return (
    absent.resources ?? absent.assembly ?? trans.__('Not compiled for it yet')
  );
}
