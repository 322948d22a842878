import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { IColumn } from '../common';
import { Absent, compareNumbers } from '../common';
import {
  formatBytes,
  formatMicroseconds,
  formatShare
} from '../../words/format';
import { CheckBadge } from './check';
import { Estimate } from '../common/estimate';
import { leastText, limitText } from './phrases';
import type { IRow } from './rows';

/**
 * The columns of kernels for a device that is not there: what the compiler says
 * of them, what they take at best, and whether they compute what they should.
 *
 * @param target - What the device is called.
 */
export function targetColumns(
  target: string,
  trans: TranslationBundle
): IColumn<IRow>[] {
  const resource = (
    id: string,
    label: string,
    title: string,
    width: string,
    from: number | undefined,
    show: (value: number, row: IRow) => React.ReactNode
  ): IColumn<IRow> => {
    const of = ({ kernel }: IRow) => kernel.resources[id] ?? null;
    return {
      id,
      label,
      title,
      width,
      from,
      isNumber: true,
      hasValue: row => of(row) !== null,
      compare: (a, b) => compareNumbers(of(a), of(b)),
      render: row => {
        const value = of(row);
        return value === null ? (
          <Absent why={whyNot(row, trans)} />
        ) : (
          show(value, row)
        );
      }
    };
  };
  return [
    {
      id: 'least',
      label: trans.__('Est. time'),
      title: trans.__(
        'Estimated lower bound for all launches of one call on %1; nothing runs there',
        target
      ),
      width: '82px',
      isNumber: true,
      compare: (a, b) => compareNumbers(a.least.value, b.least.value),
      render: row => (
        <Estimate
          value={row.least.value}
          exact={formatMicroseconds}
          isLeast
          of={leastText(row, trans)}
          format={formatMicroseconds}
          why={trans.__('Not estimated for this kernel')}
          trans={trans}
        />
      )
    },
    resource(
      'registers',
      trans.__('Regs'),
      trans.__('Registers per thread'),
      '48px',
      520,
      value => value
    ),
    resource(
      'spills',
      trans.__('Spills'),
      trans.__('Register spills per thread, in bytes'),
      '58px',
      600,
      value =>
        value > 0 ? (
          <span className="jp-Compilescope-spills">{formatBytes(value)}</span>
        ) : (
          value
        )
    ),
    resource(
      'shared_bytes',
      trans.__('Shared'),
      trans.__('Shared memory per block'),
      '70px',
      680,
      value => formatBytes(value)
    ),
    resource(
      'occupancy',
      trans.__('Occupancy'),
      trans.__(
        'Share of a multiprocessor’s threads that can be resident, from the compiler’s figures'
      ),
      '78px',
      430,
      (value, { kernel }) => (
        <span title={limitText(kernel.limit, trans)}>{formatShare(value)}</span>
      )
    ),
    {
      id: 'check',
      label: trans.__('Check'),
      title: trans.__(
        'Interpreted without the device, and compared with eager'
      ),
      width: '92px',
      from: 360,
      compare: (a, b) => rank(a) - rank(b),
      render: row => (
        <CheckBadge
          check={row.kernel.check}
          why={
            row.kernel.language === 'extern'
              ? trans.__('Extern kernel: nothing to interpret')
              : (row.kernel.absent.check ?? trans.__('Not checked yet'))
          }
          trans={trans}
        />
      )
    }
  ];
}

/** What differs comes first. */
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
