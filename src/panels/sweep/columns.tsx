import * as React from 'react';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Sweep } from '../../protocol/types';
import type { IColumn } from '../common';
import { AbsentValue, Badge, compareNumbers } from '../common';
import {
  formatBytes,
  formatMicroseconds,
  formatQuantity,
  formatSeconds
} from '../../words/format';
import { speedupClass } from '../common/speedup';
import { TABLES } from '../../words/tables';
import { declaredColumns } from '../common/tables/declared';
import { againstEager, stateKind, stateTitle, stepText } from './phrases';
import type { IRow } from './rows';

/**
 * The columns of a sweep's cells; a narrow table has fewer.
 */
export function columnsOf(
  sweep: Sweep,
  trans: TranslationBundle
): IColumn<IRow>[] {
  const hasShapes = sweep.shapes.length > 1 || !!sweep.shapes[0];
  // A table with one more column must be this much wider for all others.
  const more = hasShapes ? 76 : 0;
  const none = <AbsentValue why={trans.__('Not measured')} />;
  const byText = (of: (row: IRow) => string) => (a: IRow, b: IRow) =>
    of(a).localeCompare(of(b), undefined, { numeric: true });
  const byNumber = (of: (row: IRow) => number | null) => (a: IRow, b: IRow) =>
    compareNumbers(of(a), of(b));
  const number = (
    width: string,
    from: number | undefined,
    of: (row: IRow) => number | null,
    format: (value: number) => string
  ) => ({
    width,
    from: from && from + more,
    // The best cell is at the top; cells without a value are at the bottom.
    isDescendingFirst: false,
    compare: (a: IRow, b: IRow) =>
      compareNumbers(of(a) ?? Infinity, of(b) ?? Infinity),
    render: (row: IRow) => {
      const value = of(row);
      return value === null ? none : format(value);
    }
  });
  const throughput = ({ cell }: IRow) => cell.throughput_per_s;
  return declaredColumns<IRow, 'cells'>('cells', trans, {
    variant: {
      width: 'minmax(76px, 3fr)',
      compare: byText(({ cell }) => cell.name),
      render: ({ cell }) => <span title={cell.name}>{cell.name}</span>
    },
    shape: hasShapes && {
      width: 'minmax(48px, 1fr)',
      compare: byText(({ cell }) => cell.shape),
      render: ({ cell }) => (
        <span title={cell.arguments.join('\n')}>{cell.shape}</span>
      )
    },
    state: {
      width: 'minmax(80px, 112px)',
      compare: byText(row => standingText(row, trans)),
      render: row => <State row={row} trans={trans} />
    },
    latency: number(
      '72px',
      undefined,
      ({ latency }) => latency,
      formatMicroseconds
    ),
    interval: {
      width: '108px',
      from: 950 + more,
      render: ({ cell: { timing } }) =>
        timing && <span title={timing.interval}>{timing.interval}</span>
    },
    speedup: {
      width: '136px',
      from: 540 + more,
      compare: byNumber(({ cell }) => cell.timing?.ratio ?? null),
      isDescendingFirst: true,
      render: ({ cell }) => (
        <span
          className={speedupClass(cell.timing?.speedup ?? null)}
          title={cell.timing?.speedup?.detail}
        >
          {againstEager(cell, trans)}
        </span>
      )
    },
    compile: number('72px', 390, ({ compile }) => compile, formatSeconds),
    throughput: {
      ...number('76px', 1260, throughput, value => formatQuantity(value)),
      label: trans.__('%1/s', sweep.unit),
      isDescendingFirst: true,
      compare: byNumber(throughput)
    },
    memory: number('76px', 830, ({ cell }) => cell.memory_bytes, formatBytes),
    accuracy: {
      width: '128px',
      from: 780 + more,
      compare: byNumber(({ error }) => error),
      isDescendingFirst: true,
      render: row => <Accuracy row={row} trans={trans} />
    },
    effective: {
      width: 'minmax(110px, 2fr)',
      from: 1390 + more,
      compare: byNumber(({ cell }) => cell.effective.length),
      isDescendingFirst: true,
      render: ({ cell: { effective } }) => (
        <span
          title={effective
            .map(({ setting, actual, why }) => `${setting}: ${actual}\n${why}`)
            .join('\n')}
        >
          {effective.map(({ setting }) => setting).join(', ')}
        </span>
      )
    }
  });
}

function standingText(
  { cell, isWinner, isFront }: IRow,
  trans: TranslationBundle
): string {
  const { words } = TABLES.cells(trans).state;
  return isWinner
    ? words.fastest
    : isFront
      ? words.pareto
      : stateTitle(cell.state, trans);
}

function State(props: { row: IRow; trans: TranslationBundle }): JSX.Element {
  const { row, trans } = props;
  const { cell, isWinner, isFront } = row;
  if (cell.state !== 'done') {
    return cell.state === 'running' && cell.step ? (
      <Badge kind="info" title={stepText(cell, trans)}>
        {cell.step}
      </Badge>
    ) : cell.state === 'waiting' || cell.state === 'cancelled' ? (
      <span className="jp-Compilescope-muted">
        {stateTitle(cell.state, trans)}
      </span>
    ) : (
      <Badge kind={stateKind(cell.state)} title={cell.problem?.what}>
        {stateTitle(cell.state, trans)}
      </Badge>
    );
  }
  return (
    <>
      {isWinner ? (
        <Badge kind="good" title={trans.__('The lowest median of its shape')}>
          {standingText(row, trans)}
        </Badge>
      ) : isFront ? (
        <Badge
          title={trans.__(
            'No other cell of its shape has both a shorter first call and a lower latency'
          )}
        >
          {standingText(row, trans)}
        </Badge>
      ) : (
        stateTitle(cell.state, trans)
      )}
      {cell.reused && (
        <span
          className="jp-Compilescope-muted"
          title={trans.__('Measured in an earlier sweep, and reused')}
        >
          {` ${trans.__('reused')}`}
        </span>
      )}
    </>
  );
}

function Accuracy(props: { row: IRow; trans: TranslationBundle }): JSX.Element {
  const { row, trans } = props;
  const { result, accurate } = row.cell;
  if (result === '') {
    return <AbsentValue why={trans.__('Not compared with eager')} />;
  }
  return accurate === false ? (
    <Badge kind="error">{result}</Badge>
  ) : (
    <>{result}</>
  );
}
