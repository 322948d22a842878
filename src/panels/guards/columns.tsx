import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Guard } from '../../protocol/types';
import { AbsentValue, Badge, Bar, compareNumbers, SourceLink } from '../common';
import { formatCount, formatNanoseconds } from '../../words/format';
import type { IColumn } from '../common';
import type { IGraphs } from '../common/graphs';
import { GRAPH_WIDTH, GraphCell } from '../common/graphs';
import { declaredColumns, type ColumnChange } from '../common/tables/declared';
import type { IViewContext } from '../views';
import type { Content, IBranch, IEntry } from './rows';
import { compareSources } from './rows';

/**
 * What the columns need in addition to their row.
 */
export interface IColumnContext {
  readonly context: IViewContext;
  readonly view: object;

  /**
   * The titles of the compilations, by id, if rows are of several.
   */
  readonly graphs: IGraphs<unknown>['titles'] | null;

  /**
   * The time of a full bar, in nanoseconds: all guards of a call, or the costliest one.
   */
  readonly scale: number | null;

  /**
   * Why a guard has no cost, or no counts.
   */
  readonly noCost: string;
  readonly noCounts: string;

  /**
   * Whether anything was measured or counted.
   */
  readonly hasCosts: boolean;
  readonly hasHits: boolean;
  readonly hasFails: boolean;
}

/**
 * The columns of the flat table.
 */
export function tableColumns(options: IColumnContext): IColumn<IEntry>[] {
  const { context, view, graphs } = options;
  const { trans } = context;
  return declaredColumns<IEntry, 'guards'>('guards', trans, {
    graph: graphs !== null && {
      width: GRAPH_WIDTH,
      compare: (a, b) => compareSources(a.compilation, b.compilation),
      render: ({ compilation }) => (
        <GraphCell id={compilation} graphs={graphs} />
      )
    },
    expression: {
      width: 'minmax(120px, 3fr)',
      render: ({ guard }) => <Expression guard={guard} trans={trans} />,
      compare: (a, b) => compareSources(a.guard.expression, b.guard.expression)
    },
    source: {
      width: 'minmax(80px, 1.4fr)',
      from: 620,
      render: ({ guard }) => <code title={guard.source}>{guard.source}</code>,
      compare: (a, b) => compareSources(a.guard.source, b.guard.source)
    },
    type: {
      width: 'minmax(80px, 1fr)',
      from: 820,
      render: ({ guard }) => <span title={guard.type}>{guard.type}</span>,
      compare: (a, b) => compareSources(a.guard.type, b.guard.type)
    },
    line: {
      width: 'minmax(70px, 150px)',
      from: 460,
      render: ({ guard }) => (
        <Origin guard={guard} context={context} view={view} />
      ),
      compare: (a, b) => compareSources(placeOf(a.guard), placeOf(b.guard))
    },
    ...counts<IEntry>(options, {
      cost: ({ guard }) => guard.cost_ns,
      hits: ({ guard }) => guard.hits,
      fails: ({ guard }) => guard.fails
    })
  });
}

/**
 * The columns of the tree, and of the guards by source.
 */
export function treeColumns(options: IColumnContext): IColumn<Content>[] {
  const { context, view } = options;
  const { trans } = context;
  const value =
    (
      ofGuard: (guard: Guard) => number | null,
      ofBranch: (b: IBranch) => number | null
    ) =>
    (content: Content) =>
      content.kind === 'guard'
        ? ofGuard(content.entry.guard)
        : ofBranch(content.branch);
  const { hits, ...costs } = counts<Content>(options, {
    cost: value(
      guard => guard.cost_ns,
      branch => branch.cost
    ),
    hits: value(
      guard => guard.hits,
      () => null
    ),
    fails: value(
      guard => guard.fails,
      branch => branch.fails
    )
  });
  return declaredColumns<Content, 'guards'>('guards', trans, {
    graph: false,
    expression: {
      width: 'minmax(120px, 1fr)',
      render: content =>
        content.kind === 'guard' ? (
          <Expression guard={content.entry.guard} trans={trans} />
        ) : (
          <BranchName branch={content.branch} trans={trans} />
        )
    },
    source: false,
    type: {
      width: 'minmax(80px, 190px)',
      from: 880,
      render: content => {
        const text =
          content.kind === 'guard'
            ? content.entry.guard.type
            : (content.branch.manager?.value_type ?? '');
        return <span title={text}>{text}</span>;
      }
    },
    line: {
      width: 'minmax(70px, 110px)',
      from: 460,
      render: content =>
        content.kind === 'guard' ? (
          <Origin guard={content.entry.guard} context={context} view={view} />
        ) : null
    },
    ...costs,
    hits: hits && {
      ...hits,
      render: content =>
        content.kind === 'guard' ? hits.render(content) : null
    }
  });
}

function counts<T>(
  { scale, noCost, noCounts, hasCosts, hasHits, hasFails }: IColumnContext,
  value: Record<'cost' | 'hits' | 'fails', (row: T) => number | null>
): Record<'cost' | 'hits' | 'fails', ColumnChange<T>> {
  const count = (row: T, what: 'hits' | 'fails') => {
    const number = value[what](row);
    return number === null ? (
      <AbsentValue why={noCounts} />
    ) : (
      <span className={number > 0 ? `jp-mod-${what}` : 'jp-mod-zero'}>
        {formatCount(number)}
      </span>
    );
  };
  // Omit columns without any value.
  return {
    cost: hasCosts && {
      width: '104px',
      render: row => {
        const cost = value.cost(row);
        return cost === null ? (
          <AbsentValue why={noCost} />
        ) : (
          <span className="jp-Compilescope-cost">
            {scale !== null && <Bar share={cost / scale} />}
            <span>{formatNanoseconds(cost)}</span>
          </span>
        );
      },
      compare: (a, b) => compareNumbers(value.cost(a), value.cost(b))
    },
    hits: hasHits && {
      width: '48px',
      from: 560,
      render: row => count(row, 'hits'),
      compare: (a, b) => compareNumbers(value.hits(a), value.hits(b))
    },
    fails: hasFails && {
      width: '48px',
      from: 400,
      render: row => count(row, 'fails'),
      compare: (a, b) => compareNumbers(value.fails(a), value.fails(b))
    }
  };
}

function Expression(props: {
  guard: Guard;
  trans: TranslationBundle;
}): JSX.Element {
  const { guard, trans } = props;
  return (
    <>
      {guard.language === 'python' && (
        <>
          <Badge kind="warning" title={whySlow(guard, trans)}>
            {trans.__('Python')}
          </Badge>{' '}
        </>
      )}
      {guard.expression ? (
        <code title={guard.expression}>{guard.expression}</code>
      ) : (
        <AbsentValue why={trans.__('torch gives no text for this guard')} />
      )}
    </>
  );
}

/**
 * Why a guard that is checked in Python costs as much as it does.
 */
export function whySlow(guard: Guard, trans: TranslationBundle): string {
  const slow = trans.__(
    'Checked in Python: about 1 µs per call, and it takes the GIL.'
  );
  return guard.why ? `${slow} ${guard.why}` : slow;
}

function BranchName(props: {
  branch: IBranch;
  trans: TranslationBundle;
}): JSX.Element {
  const { trans } = props;
  const { manager, source, title, count } = props.branch;
  const name =
    title ||
    source ||
    manager?.kind ||
    (props.branch.key.endsWith('none')
      ? trans.__('not in the tree')
      : trans.__('without a source'));
  return (
    <>
      {source && !title ? (
        <code title={source}>{name}</code>
      ) : (
        <span>{name}</span>
      )}{' '}
      <span className="jp-Compilescope-accessor">
        {manager?.accessor && (
          <span title={manager.accessor}>{manager.accessor} · </span>
        )}
        {trans._n('%2 guard', '%2 guards', count, formatCount(count))}
        {manager?.shortcut && (
          <span
            title={trans.__(
              'torch skips these checks while none of the dictionaries below has changed, so a call costs less than their sum.'
            )}
          >
            {' · '}
            {trans.__('skipped while unchanged')}
          </span>
        )}
      </span>
    </>
  );
}

function Origin(props: {
  guard: Guard;
  context: IViewContext;
  view: object;
}): JSX.Element {
  const { origin } = props.guard;
  const { trans } = props.context;
  return origin ? (
    <SourceLink
      where={origin}
      context={props.context}
      origin={props.view}
      isInRow
    />
  ) : (
    <AbsentValue why={trans.__('torch records no source line for it')} />
  );
}

function placeOf({ origin }: Guard): string {
  return origin ? `${origin.file}:${origin.line}` : '';
}
