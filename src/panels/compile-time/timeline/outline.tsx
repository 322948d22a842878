import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { IColumn, Sort } from '../../common';
import { sorted, VirtualTable } from '../../common';
import { kindClass } from './colors';
import { compareKinds, kindTitle } from '../kinds';
import type { ILane, IPlace, IWaterfall } from './lanes';
import { formatTime, runTitle, trackTitle } from '../phrases';
import type { ISpan } from './spans';

interface IEntry {
  readonly key: string;
  readonly place: IPlace;
  readonly lane: ILane;
  readonly span: ISpan;
}

/**
 * All phases in words: the content of the chart as a table.
 */
export function Outline(props: {
  chart: IWaterfall;
  place: IPlace | null;
  onPlace: (place: IPlace) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { chart, place, onPlace, trans } = props;
  const [sort, setSort] = React.useState<Sort>(null);
  const entries = React.useMemo(
    () =>
      chart.lanes.flatMap((lane, index) =>
        lane.flame.spans.map((span, number) => {
          const place = { lane: index, span: number };
          return { key: keyOf(place), place, lane, span };
        })
      ),
    [chart]
  );
  const columns = columnsOf(sort === null, trans);
  const rows = React.useMemo(
    () => sorted(entries, columns, sort),
    [entries, sort]
  );
  return (
    <VirtualTable<IEntry>
      label={trans.__('Phases of the compilations')}
      columns={columns}
      rows={rows}
      keyOf={({ key }) => key}
      sort={sort}
      onSort={setSort}
      selected={place && keyOf(place)}
      onSelect={entry => onPlace(entry.place)}
      trans={trans}
    />
  );
}

function columnsOf(
  isTree: boolean,
  trans: TranslationBundle
): IColumn<IEntry>[] {
  return [
    {
      id: 'name',
      label: trans.__('Phase'),
      width: 'minmax(140px, 3fr)',
      compare: (a, b) => a.span.name.localeCompare(b.span.name),
      render: ({ span }) => (
        <span
          style={{ paddingLeft: isTree ? `${span.level * 12}px` : 0 }}
          title={span.detail || span.name}
        >
          <span className={kindClass(span.kind)} aria-hidden="true" />
          {span.name}
          {span.detail && (
            <span className="jp-Compilescope-muted"> {span.detail}</span>
          )}
        </span>
      )
    },
    {
      id: 'duration',
      label: trans.__('Duration'),
      width: '76px',
      isNumber: true,
      compare: (a, b) => a.span.duration - b.span.duration,
      render: ({ span }) => formatTime(span.duration)
    },
    {
      id: 'self',
      label: trans.__('Self'),
      title: trans.__('Excluding nested phases'),
      width: '76px',
      isNumber: true,
      compare: (a, b) => (a.span.self ?? 0) - (b.span.self ?? 0),
      render: ({ span }) => (span.self === null ? '–' : formatTime(span.self))
    },
    {
      id: 'start',
      label: trans.__('Starts at'),
      width: '76px',
      isNumber: true,
      from: 480,
      compare: (a, b) => a.span.start - b.span.start,
      render: ({ span }) => formatTime(span.start)
    },
    {
      id: 'kind',
      label: trans.__('Kind'),
      width: 'minmax(90px, 1fr)',
      from: 420,
      compare: (a, b) => compareKinds(a.span.kind, b.span.kind),
      render: ({ span }) => kindTitle(span.kind, trans)
    },
    {
      id: 'compilation',
      label: trans.__('Compilation'),
      width: '92px',
      from: 620,
      compare: (a, b) => a.place.lane - b.place.lane,
      render: ({ lane }) => `${lane.id} ${runTitle(lane.run, trans)}`
    },
    {
      id: 'thread',
      label: trans.__('Thread'),
      width: '104px',
      from: 740,
      compare: (a, b) => a.span.track - b.span.track,
      render: ({ lane, span }) =>
        trackTitle(span.track, span.track === lane.flame.main, trans)
    }
  ];
}

function keyOf({ lane, span }: IPlace): string {
  return `${lane}:${span}`;
}
