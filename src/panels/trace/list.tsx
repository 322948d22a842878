import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { CompilationSummary, ReportSummary } from '../../protocol/types';
import { formatCount, formatPlace, formatSeconds } from '../../words/format';
import type { IColumn, Sort } from '../common';
import {
  AbsentValue,
  Badge,
  compareNumbers,
  filled,
  SearchField,
  Select,
  sorted,
  VirtualTable
} from '../common';
import type { IViewContext } from '../views';
import { show } from './link';

/**
 * The list's height with many rows, in pixels.
 */
const MAX_HEIGHT = 420;

/**
 * A compilation of a process.
 */
interface IRow {
  readonly key: string;
  readonly process: string;
  readonly id: string;

  /**
   * The function and its file; `path` is the full path.
   */
  readonly place: string;
  readonly path: string;
  readonly duration: number | null;
  readonly nodes: number;
  readonly recompile: string;
  readonly breaks: number;
  readonly outcome: CompilationSummary['outcome'];

  /**
   * The outcome in words; empty if it was compiled.
   */
  readonly outcomeWords: string;

  /**
   * Cache → its answer: hit, miss or bypass.
   */
  readonly caches: Readonly<Record<string, string>>;
}

const FILTERS: Record<string, (row: IRow) => boolean> = {
  all: () => true,
  failed: row => row.outcome !== 'compiled',
  recompiled: row => row.recompile !== '' && row.outcome === 'compiled',
  broken: row => row.breaks > 0,
  hit: row => hasCacheOutcome(row, 'hit'),
  miss: row => hasCacheOutcome(row, 'miss'),
  bypass: row => hasCacheOutcome(row, 'bypass')
};

function hasCacheOutcome({ caches }: IRow, answer: string): boolean {
  return Object.values(caches).includes(answer);
}

/**
 * All compilations, sorted and filtered. The selected one is shown in all
 * views.
 */
export function CompilationList(props: { context: IViewContext }): JSX.Element {
  const { context } = props;
  const { model, trans } = context;
  const { report } = model;
  const [sort, setSort] = React.useState<Sort>(null);
  const [filter, setKept] = React.useState('all');
  const [text, setText] = React.useState('');
  const [least, setLeast] = React.useState('');
  const allRows = React.useMemo(
    () => (report ? rowsOf(report, trans) : []),
    [report]
  );
  const isAlone = report?.variants.length === 1;
  const columns = filled(columnsOf(trans), allRows).filter(
    ({ id }) => id !== 'process' || !isAlone
  );
  const rows = React.useMemo(
    () =>
      sorted(
        allRows.filter(
          row =>
            FILTERS[filter](row) &&
            (row.place.includes(text) || row.path.includes(text)) &&
            row.nodes >= Number(least)
        ),
        columns,
        sort
      ),
    [allRows, filter, text, least, sort]
  );
  return (
    <section>
      <h3>
        {rows.length === allRows.length
          ? trans._n(
              '%2 compilation',
              '%2 compilations',
              allRows.length,
              formatCount(allRows.length)
            )
          : trans.__(
              '%1 of %2 compilations',
              formatCount(rows.length),
              formatCount(allRows.length)
            )}
      </h3>
      <div className="jp-Compilescope-traceControls">
        <SearchField
          label={trans.__('Filter by function or file')}
          value={text}
          onChange={setText}
        />
        <Select
          label={trans.__('Show')}
          value={filter}
          options={[
            { value: 'all', label: trans.__('all') },
            {
              value: 'failed',
              label: trans.__('failed or fell back to eager')
            },
            { value: 'recompiled', label: trans.__('recompiles') },
            { value: 'broken', label: trans.__('with graph breaks') },
            { value: 'miss', label: trans.__('missed a cache') },
            { value: 'bypass', label: trans.__('bypassed a cache') },
            { value: 'hit', label: trans.__('hit a cache') }
          ]}
          onChange={setKept}
        />
        <label className="jp-Compilescope-pick">
          <span>{trans.__('At least')}</span>
          <input
            type="number"
            min={0}
            step={1}
            value={least}
            placeholder="0"
            onChange={event => setLeast(event.currentTarget.value)}
          />
          <span>{trans.__('nodes')}</span>
        </label>
      </div>
      <div
        className="jp-Compilescope-traceList"
        style={{
          height: Math.min(MAX_HEIGHT, 34 + 24 * Math.max(rows.length, 2))
        }}
      >
        <VirtualTable
          label={trans.__('Compilations')}
          columns={columns}
          rows={rows}
          all={allRows}
          keyOf={row => row.key}
          sort={sort}
          onSort={setSort}
          selected={keyOf(model.variant, model.compilation)}
          onSelect={row => show(context, row.process, row.id)}
          trans={trans}
          none={trans.__('No compilation matches the filter.')}
        />
      </div>
    </section>
  );
}

function keyOf(process: string, id: string): string {
  return JSON.stringify([process, id]);
}

function rowsOf(report: ReportSummary, trans: TranslationBundle): IRow[] {
  return report.variants.flatMap(({ name, compilations }) =>
    compilations.map(compilation => ({
      key: keyOf(name, compilation.id),
      process: name,
      id: compilation.id,
      place: compilation.where
        ? `${compilation.where.function}, ${formatPlace(compilation.where, report.files, trans)}`
        : '',
      path: compilation.where
        ? `${compilation.where.file}:${compilation.where.line}`
        : '',
      duration: compilation.duration_s,
      nodes: compilation.nodes,
      recompile: compilation.recompile[0]?.split('\n')[0] ?? '',
      breaks: compilation.breaks,
      outcome: compilation.outcome,
      outcomeWords: compilation.outcome_words,
      caches: compilation.caches
    }))
  );
}

function columnsOf(trans: TranslationBundle): readonly IColumn<IRow>[] {
  return [
    {
      id: 'process',
      label: trans.__('Process'),
      width: 'minmax(110px, 1fr)',
      text: row => row.process,
      from: 500,
      render: row => <span title={row.process}>{row.process}</span>,
      compare: (a, b) =>
        a.process.localeCompare(b.process, undefined, { numeric: true })
    },
    {
      id: 'id',
      label: trans.__('Compilation'),
      width: '80px',
      render: row => <code>{row.id}</code>,
      compare: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true })
    },
    {
      id: 'duration',
      label: trans.__('Compile time'),
      width: '90px',
      isNumber: true,
      render: row =>
        row.duration === null ? (
          <AbsentValue why={trans.__('torch logged none: it did not finish')} />
        ) : (
          formatSeconds(row.duration)
        ),
      compare: (a, b) => compareNumbers(a.duration, b.duration)
    },
    {
      id: 'nodes',
      label: trans.__('Nodes'),
      title: trans.__('Nodes of its graph'),
      width: '70px',
      isNumber: true,
      from: 600,
      render: row => formatCount(row.nodes),
      compare: (a, b) => a.nodes - b.nodes
    },
    {
      id: 'place',
      label: trans.__('Function'),
      width: 'minmax(90px, 2fr)',
      text: row => row.place,
      render: row => <code title={row.path}>{row.place}</code>,
      compare: (a, b) => a.place.localeCompare(b.place)
    },
    {
      id: 'outcome',
      label: trans.__('Outcome'),
      width: '150px',
      from: 560,
      hasValue: row => row.outcomeWords !== '',
      render: row =>
        row.outcomeWords && (
          <Badge kind={row.outcome === 'failed' ? 'error' : 'warning'}>
            {row.outcomeWords}
          </Badge>
        ),
      compare: (a, b) => a.outcomeWords.localeCompare(b.outcomeWords),
      isDescendingFirst: true
    },
    {
      id: 'breaks',
      label: trans.__('Breaks'),
      title: trans.__('Graph breaks'),
      width: '60px',
      isNumber: true,
      from: 700,
      hasValue: row => row.breaks > 0,
      render: row => row.breaks > 0 && formatCount(row.breaks),
      compare: (a, b) => a.breaks - b.breaks
    },
    {
      id: 'caches',
      label: trans.__('Caches'),
      width: 'minmax(120px, 2fr)',
      text: cachesOf,
      from: 640,
      hasValue: row => Object.keys(row.caches).length > 0,
      render: row => <span title={cachesOf(row)}>{cachesOf(row)}</span>,
      compare: (a, b) => cachesOf(a).localeCompare(cachesOf(b))
    },
    {
      id: 'recompile',
      label: trans.__('Recompiled because'),
      width: 'minmax(140px, 2fr)',
      from: 560,
      hasValue: row => row.recompile !== '',
      render: row => <span title={row.recompile}>{row.recompile}</span>,
      compare: (a, b) => a.recompile.localeCompare(b.recompile),
      isDescendingFirst: true
    }
  ];
}

function cachesOf({ caches }: IRow): string {
  return Object.entries(caches)
    .map(([cache, answer]) => `${cache} ${answer}`)
    .join(', ');
}
