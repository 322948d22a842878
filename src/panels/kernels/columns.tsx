import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { isOfAnotherGraph } from '../../model/wrappers';
import type { KernelTime, Launch, SourceLine } from '../../protocol/types';
import type { IColumn } from '../common';
import type { IGraphs } from '../common/graphs';
import { GRAPH_LEAST, GRAPH_WIDTH, GraphCell } from '../common/graphs';
import { AbsentValue, compareNumbers, SourceLink } from '../common';
import { declaredColumns, type ColumnChange } from '../common/tables/declared';
import { Elided } from '../common/tables/elided';
import {
  formatBytes,
  formatCount,
  formatMicroseconds,
  formatPlace,
  formatQuantity,
  formatShare
} from '../../words/format';
import type { IViewContext } from '../views';
import { Estimate } from '../common/estimate';
import { fusionColumns } from './fusionColumns';
import { operatorsText } from './operators';
import type { IRow } from './rows';
import { languageTitle, sumText } from './phrases';
import { directionTitle } from '../../words/directions';
import { NO_TARGET, targetColumns } from './targetColumns';

/**
 * The data that determines the columns of the table of kernels and their
 * content.
 */
export interface IColumnOptions {
  readonly origin: object;

  /**
   * Whether any launch was measured; otherwise there is no column for it.
   */
  readonly isTimed: boolean;

  /**
   * Whether any kernel belongs to a forward or a backward: then the column for
   * the direction precedes most others.
   */
  readonly isTraining: boolean;

  /**
   * The titles of the graphs by id, if rows belong to several: then there is a
   * column for the graph.
   */
  readonly graphs: IGraphs<unknown>['titles'] | null;

  /**
   * The name of the device that the code is for, if it is not available; null
   * if it is the device of the arguments.
   */
  readonly target: string | null;

  /**
   * The upper bound of a call's time, in µs, if the kernels' times contradict
   * it; otherwise null.
   */
  readonly latencyUs: number | null;

  /**
   * Shows a launch in the Code view.
   */
  readonly onLaunch: (row: IRow, launch: Launch) => void;
}

/**
 * The columns of the table of kernels. A narrow table has fewer: each column
 * appears where it leaves about 30 characters for the name.
 */
export function columnsOf(
  context: IViewContext,
  {
    origin,
    isTimed,
    isTraining,
    graphs,
    target,
    latencyUs,
    onLaunch
  }: IColumnOptions
): IColumn<IRow>[] {
  const { trans } = context;
  // Where further columns stand, the usual ones come later.
  const shift = graphs ? GRAPH_LEAST + GAP : 0;
  const beside = (width: number | undefined) =>
    width === undefined ? undefined : width + shift;
  const later = (width: number | undefined) =>
    beside(
      width !== undefined && width > DIRECTION_FROM && isTraining
        ? width + DIRECTION_WIDTH + GAP
        : width
    );
  const from = (plain: number | undefined, timed?: number, aimed = timed) =>
    target !== null ? beside(aimed) : later(isTimed ? timed : plain);
  const unknown = trans.__('Not estimated for this kernel');
  const placeOf = (source: SourceLine) =>
    formatPlace(source, context.model.report?.files ?? {}, trans);
  const moreLines = (count: number) =>
    trans._n('+%2 line', '+%2 lines', count, formatCount(count));
  const byText = (of: (row: IRow) => string) => (a: IRow, b: IRow) =>
    of(a).localeCompare(of(b), undefined, { numeric: true });
  const byNumber = (of: (row: IRow) => number | null) => (a: IRow, b: IRow) =>
    compareNumbers(of(a), of(b));
  const launchColumn = (id: 'python' | 'cpp'): ColumnChange<IRow> => ({
    width: '58px',
    from: from(isTraining ? 540 : 580, 1040, 1190),
    hasValue: row => row[id].length > 0,
    compare: byNumber(row => row[id][0]?.line ?? null),
    render: row => (
      <LaunchCell
        launches={row[id]}
        onOpen={launch => onLaunch(row, launch)}
        none={trans.__('This wrapper does not launch it, or was not generated')}
        title={launch => trans.__('Show line %1 in the code', launch.line)}
        more={others =>
          trans._n(
            '%2 more launch, in line %3',
            '%2 more launches, in lines %3',
            others.length,
            formatCount(others.length),
            others.map(({ line }) => line).join(', ')
          )
        }
      />
    )
  });
  return declaredColumns<IRow, 'kernels'>('kernels', trans, {
    graph: graphs !== null && {
      width: GRAPH_WIDTH,
      compare: byText(({ compilation }) => compilation),
      render: ({ compilation }) => (
        <GraphCell id={compilation} graphs={graphs} />
      )
    },
    name: {
      // With a column more, a narrow table still has room for the time.
      width: `minmax(${graphs ? 180 : 200}px, 3fr)`,
      text: ({ kernel }) =>
        kernel.descriptors.length > 0 ? `TMA   ${kernel.name}` : kernel.name,
      compare: byText(({ kernel }) => kernel.name),
      render: ({ kernel }) => (
        <div className="jp-Compilescope-kernelName">
          {kernel.descriptors.length > 0 && (
            <span
              className="jp-Compilescope-tma"
              title={trans.__('It reads or writes through TMA descriptors')}
            >
              {trans.__('TMA')}
            </span>
          )}
          <code>
            <Elided text={kernel.name} tail={12} />
          </code>
        </div>
      )
    },
    language: {
      width: '68px',
      from: from(1080, 1240, 880),
      compare: byText(({ kernel }) => kernel.language),
      render: ({ kernel }) => languageTitle(kernel.language, trans)
    },
    direction: {
      width: `${DIRECTION_WIDTH}px`,
      from:
        isTraining && target === null
          ? beside(DIRECTION_FROM)
          : from(1080, 1320, 1300),
      hasValue: ({ kernel }) => kernel.direction !== 'inference',
      compare: byText(({ kernel }) => kernel.direction),
      render: ({ kernel }) => directionTitle(kernel.direction, trans)
    },
    ops: {
      width: 'minmax(180px, 2fr)',
      from: from(900, 1500, 1620),
      hasValue: ({ kernel }) => kernel.ops.length > 0,
      compare: byText(({ kernel }) => operatorsText(kernel.ops)),
      render: ({ kernel }) => (
        <span title={kernel.ops.join('\n')}>{operatorsText(kernel.ops)}</span>
      )
    },
    launches: {
      width: '62px',
      from: from(undefined, 390, 490),
      compare: (a, b) => a.launches.length - b.launches.length,
      render: ({ launches }) => launches.length
    },
    ...fusionColumns(
      { fused: from(640, 1100, 1360), saved: from(1160, 1180, 1440) },
      trans
    ),
    ...(isTimed ? timeColumns(latencyUs, later, trans) : NO_TIMES),
    ...(target !== null ? targetColumns(trans, beside) : NO_TARGET),
    bytes: {
      width: '80px',
      from: from(700, 600, 960),
      hasValue: ({ bytes }) => bytes.value !== null,
      compare: byNumber(({ bytes }) => bytes.value),
      render: ({ kernel, bytes }) => (
        <Estimate
          value={bytes.value}
          of={sumText(bytes, formatBytes, trans)}
          format={formatBytes}
          why={kernel.absent.estimated_bytes ?? unknown}
          trans={trans}
        />
      )
    },
    operations: {
      width: '96px',
      from: from(1240, 1600, 1720),
      hasValue: ({ operations }) => operations.value !== null,
      compare: byNumber(({ operations }) => operations.value),
      render: ({ kernel, operations }) => (
        <Estimate
          value={operations.value}
          of={sumText(operations, formatQuantity, trans)}
          format={formatQuantity}
          why={kernel.absent.estimated_operations ?? unknown}
          trans={trans}
        />
      )
    },
    intensity: {
      width: '74px',
      from: from(1380, 1690, 1800),
      hasValue: ({ intensity }) => intensity !== null,
      compare: byNumber(({ intensity }) => intensity),
      render: ({ intensity }) => (
        <Estimate
          value={intensity}
          format={formatQuantity}
          why={unknown}
          trans={trans}
        />
      )
    },
    grid: {
      width: 'minmax(112px, 1fr)',
      from: from(1720, 1900, 1920),
      hasValue: ({ kernel }) => kernel.grid !== '',
      compare: byText(({ kernel }) => kernel.grid),
      render: ({ kernel }) =>
        kernel.grid ? (
          <code title={kernel.grid}>{kernel.grid}</code>
        ) : (
          <AbsentValue
            why={kernel.absent.grid ?? trans.__('Launch grid unknown')}
          />
        )
    },
    source: {
      width: 'minmax(84px, 1fr)',
      text: ({ sources: [first, ...others] }) =>
        first
          ? placeOf(first) +
            (others.length > 0 ? ` ${moreLines(others.length)}` : '')
          : '',
      from: from(420, 700, 1050),
      hasValue: ({ sources }) => sources.length > 0,
      compare: byText(({ sources: [first] }) =>
        first ? `${first.file}:${first.line}` : ''
      ),
      render: ({ kernel, sources: [first, ...others] }) =>
        first ? (
          <span className="jp-Compilescope-firstSource">
            <SourceLink
              where={first}
              context={context}
              origin={origin}
              isInRow
            />
            {others.length > 0 && (
              <span
                className="jp-Compilescope-muted"
                title={trans.__(
                  'Of its other operators, or of what called them: %1',
                  others.map(placeOf).join(', ')
                )}
              >
                {moreLines(others.length)}
              </span>
            )}
          </span>
        ) : (
          <AbsentValue
            why={
              kernel.absent.sources ??
              trans.__('torch records no line of your code for it')
            }
          />
        )
    },
    python: launchColumn('python'),
    cpp: launchColumn('cpp')
  });
}

/**
 * Between two columns: from style/common/table.css.
 */
const GAP = 10;

/**
 * The column that tells forward from backward, and the width of the table from
 * which on it leaves room for the name.
 */
const DIRECTION_WIDTH = 74;
const DIRECTION_FROM = 480;

const NO_TIMES = {
  time: false,
  share: false,
  bandwidth: false,
  flops: false
} as const;

/**
 * The measured values, without the prefix and the italics of an estimate.
 *
 * @param latencyUs - The upper bound of a call's time, which a kernel's time
 * cannot exceed.
 * @param later - The width at which a column appears, given the columns before
 * it.
 */
function timeColumns(
  latencyUs: number | null,
  later: (width: number | undefined) => number | undefined,
  trans: TranslationBundle
): Record<keyof typeof NO_TIMES, ColumnChange<IRow>> {
  const none = ({ kernel }: IRow) => (
    <AbsentValue why={kernel.absent.time ?? trans.__('Not measured')} />
  );
  const column = (
    width: string,
    from: number | undefined,
    of: (time: KernelTime) => number | null,
    show: (time: KernelTime, value: number) => React.ReactNode
  ): ColumnChange<IRow> => ({
    width,
    from: later(from),
    compare: (a, b) =>
      compareNumbers(
        a.kernel.time && of(a.kernel.time),
        b.kernel.time && of(b.kernel.time)
      ),
    render: row => {
      const { time } = row.kernel;
      const value = time && of(time);
      return time && value !== null ? (
        <span title={time.text}>{show(time, value)}</span>
      ) : (
        none(row)
      );
    }
  });
  return {
    time: column(
      '84px',
      undefined,
      ({ us }) => us,
      (_, us) =>
        latencyUs !== null && us > latencyUs ? (
          <span
            className="jp-Compilescope-contradicted"
            title={trans.__(
              'Longer than a whole call, which takes %1: this time cannot be right',
              formatMicroseconds(latencyUs)
            )}
          >
            <span aria-hidden>⚠ </span>
            {formatMicroseconds(us)}
          </span>
        ) : (
          formatMicroseconds(us)
        )
    ),
    share: column(
      '108px',
      510,
      time => time.peak_share,
      ({ peak: of }, share) => {
        // A share of the peak memory bandwidth is meaningless for what never
        // reached the memory.
        return of === 'cache' ? (
          <span className="jp-Compilescope-muted">{trans.__('in cache')}</span>
        ) : (
          <>
            {formatShare(share)}{' '}
            <span className="jp-Compilescope-muted">
              {of === 'compute' ? trans.__('arithmetic') : trans.__('memory')}
            </span>
          </>
        );
      }
    ),
    bandwidth: column(
      '66px',
      860,
      time => time.bytes_per_s,
      (_, rate) => formatQuantity(rate)
    ),
    flops: column(
      '66px',
      940,
      time => time.operations_per_s,
      (_, rate) =>
        rate === 0 ? (
          <AbsentValue why={trans.__('No arithmetic is estimated')} />
        ) : (
          formatQuantity(rate)
        )
    )
  };
}

function LaunchCell(props: {
  launches: readonly Launch[];
  onOpen: (launch: Launch) => void;
  none: string;
  title: (launch: Launch) => string;
  more: (others: readonly Launch[]) => string;
}): JSX.Element {
  const [first, ...others] = props.launches;
  return first ? (
    <>
      {isOfAnotherGraph(first) ? (
        <span title={first.text}>{first.line}</span>
      ) : (
        <button
          type="button"
          className="jp-Compilescope-link jp-mod-code"
          tabIndex={-1}
          title={`${props.title(first)}\n${first.text}`}
          onClick={event => {
            event.stopPropagation();
            props.onOpen(first);
          }}
        >
          {first.line}
        </button>
      )}
      {others.length > 0 && (
        <span className="jp-Compilescope-muted" title={props.more(others)}>
          {` +${others.length}`}
        </span>
      )}
    </>
  ) : (
    <AbsentValue why={props.none} />
  );
}
