import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { ReportSummary } from '../../protocol/types';
import { formatCount, formatSeconds } from '../../words/format';
import type { IColumn, Sort } from '../common';
import {
  Absent,
  compareNumbers,
  SearchField,
  Select,
  sorted,
  VirtualTable
} from '../common';
import type { IViewContext } from '../views';
import { show } from './link';

/**
 * The list's height, in pixels, where it has many rows.
 */
const HIGHEST = 420;

/**
 * A compilation of a process.
 */
interface IRow {
  readonly key: string;
  readonly process: string;
  readonly id: string;
  readonly place: string;
  readonly duration: number | null;
  readonly nodes: number;
  readonly recompile: string;
  readonly breaks: number;
  readonly outcome: '' | 'failed' | 'eager';
}

const KEEPS: Record<string, (row: IRow) => boolean> = {
  all: () => true,
  failed: row => row.outcome !== '',
  recompiled: row => row.recompile !== '',
  broken: row => row.breaks > 0
};

/**
 * All compilations, sorted and filtered. One that is chosen is shown in all
 * views.
 */
export function CompilationList(props: { context: IViewContext }): JSX.Element {
  const { context } = props;
  const { model, trans } = context;
  const { report } = model;
  const [sort, setSort] = React.useState<Sort>(null);
  const [kept, setKept] = React.useState('all');
  const [text, setText] = React.useState('');
  const all = React.useMemo(() => (report ? rowsOf(report) : []), [report]);
  const columns = columnsOf(trans);
  const rows = React.useMemo(
    () =>
      sorted(
        all.filter(row => KEEPS[kept](row) && row.place.includes(text)),
        columns,
        sort
      ),
    [all, kept, text, sort]
  );
  return (
    <section>
      <h3>
        {rows.length === all.length
          ? trans._n('%1 compilation', '%1 compilations', all.length)
          : trans.__('%1 of %2 compilations', rows.length, all.length)}
      </h3>
      <div className="jp-Compilescope-traceControls">
        <SearchField
          label={trans.__('Filter by function or file')}
          value={text}
          onChange={setText}
        />
        <Select
          label={trans.__('Show')}
          value={kept}
          options={[
            { value: 'all', label: trans.__('all') },
            { value: 'failed', label: trans.__('failed or left to eager') },
            { value: 'recompiled', label: trans.__('recompiles') },
            { value: 'broken', label: trans.__('with graph breaks') }
          ]}
          onChange={setKept}
        />
      </div>
      <div
        className="jp-Compilescope-traceList"
        style={{
          height: Math.min(HIGHEST, 34 + 24 * Math.max(rows.length, 2))
        }}
      >
        <VirtualTable
          label={trans.__('Compilations')}
          columns={columns}
          rows={rows}
          keyOf={row => row.key}
          sort={sort}
          onSort={setSort}
          selected={keyOf(model.variant, model.compilation)}
          onSelect={row => show(context, row.process, row.id)}
          trans={trans}
          none={trans.__('No compilation is like that.')}
        />
      </div>
    </section>
  );
}

function keyOf(process: string, id: string): string {
  return JSON.stringify([process, id]);
}

function rowsOf(report: ReportSummary): IRow[] {
  return report.variants.flatMap(({ name, compilations, problems }) => {
    const outcomes = new Map<string, IRow['outcome']>();
    for (const { facts, severity } of problems) {
      const id = facts.compilation;
      if (id) {
        outcomes.set(id, severity === 'error' ? 'failed' : 'eager');
      }
    }
    return compilations.map(each => ({
      key: keyOf(name, each.id),
      process: name,
      id: each.id,
      place: each.where
        ? `${each.where.function} (${each.where.file}:${each.where.line})`
        : '',
      duration: each.duration_s,
      nodes: each.nodes,
      recompile: each.recompile[0]?.split('\n')[0] ?? '',
      breaks: each.breaks,
      outcome: outcomes.get(each.id) ?? ''
    }));
  });
}

function columnsOf(trans: TranslationBundle): readonly IColumn<IRow>[] {
  return [
    {
      id: 'process',
      label: trans.__('Process'),
      width: '110px',
      from: 500,
      render: row => row.process,
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
          <Absent why={trans.__('torch logged none: it did not finish')} />
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
      render: row => <code title={row.place}>{row.place}</code>,
      compare: (a, b) => a.place.localeCompare(b.place)
    },
    {
      id: 'notes',
      label: trans.__('Notes'),
      width: 'minmax(140px, 2fr)',
      from: 560,
      render: row => <span title={row.recompile}>{notesOf(row, trans)}</span>
    }
  ];
}

function notesOf(row: IRow, trans: TranslationBundle): string {
  return [
    row.outcome === 'failed' && trans.__('failed'),
    row.outcome === 'eager' && trans.__('left to eager'),
    row.recompile && trans.__('recompiled: %1', row.recompile),
    row.breaks > 0 && trans._n('%1 graph break', '%1 graph breaks', row.breaks)
  ]
    .filter(Boolean)
    .join(', ');
}
