import * as React from 'react';
import { Chart } from '../../../charts';
import type { ColdSwitch, VariantReport } from '../../../protocol/types';
import { AbsentValue } from '../../common';
import {
  formatInterval,
  formatMicroseconds,
  formatSeconds
} from '../../../words/format';
import { DeclaredCells, declaredHeads } from '../../common/tables/declared';
import { Figures } from '../../common/tables/figures';
import { StudyPart } from '../../common/study';
import type { IViewContext } from '../../views';
import { coldChartOf, coldHeight } from './chart';
import { isMeasured } from './rows';
import { FirstBar } from '../../common/firstBar';

/**
 * The effect of torch's settings on the first call: the study's button, a chart
 * and a table.
 */
export function ColdPart(props: {
  variant: VariantReport;
  context: IViewContext;
}): JSX.Element {
  const { variant, context } = props;
  const { trans } = context;
  const { cold: rows, cold_gain: gain } = variant;
  const chart = React.useMemo(() => coldChartOf(rows, trans), [rows, trans]);
  const plotted = rows.filter(isMeasured).length;
  return (
    <StudyPart
      study="cold"
      title={trans.__('Effect of settings on the first call')}
      label={trans.__('Measure')}
      variants={[variant]}
      unbuilt={trans.__('Build and time the variant first.')}
      context={context}
    >
      {rows.length === 0 ? (
        <p className="jp-Compilescope-hint">
          {variant.absent.cold ??
            trans.__(
              'How precompiled headers, a separately built or unoptimized wrapper, caches and compile threads change the first call in a new process, and the latency afterwards.'
            )}
        </p>
      ) : (
        <>
          {gain && <p>{gain}</p>}
          {plotted > 0 && (
            <Chart
              make={chart}
              height={coldHeight(plotted)}
              label={trans.__(
                'First calls by setting, in the table below. %1',
                gain
              )}
            />
          )}
          <ColdTable rows={rows} context={context} />
          <p className="jp-Compilescope-hint">{rows[0].how}</p>
        </>
      )}
    </StudyPart>
  );
}

function ColdTable(props: {
  rows: readonly ColdSwitch[];
  context: IViewContext;
}): JSX.Element {
  const { trans } = props.context;
  const longest = Math.max(
    ...props.rows.flatMap(row => [row.cold_s ?? 0, row.warm_s ?? 0])
  );
  return (
    <Figures
      label={trans.__('First calls by setting, as a table')}
      name="cold"
      caption={trans.__('First calls by setting, each in a new process')}
      heads={declaredHeads('cold', trans)}
    >
      {props.rows.map((row, index) => (
        <ColdRow
          key={index}
          row={row}
          longest={longest}
          context={props.context}
        />
      ))}
    </Figures>
  );
}

function ColdRow(props: {
  row: ColdSwitch;
  longest: number;
  context: IViewContext;
}): JSX.Element {
  const { row, longest, context } = props;
  const { trans } = context;
  const { label, problem } = row;
  const name = (
    <th scope="row" title={row.code || label}>
      {row.code ? <code>{label}</code> : label}
    </th>
  );
  const change = (
    <td className="jp-Compilescope-coldWords">
      {row.title}
      {problem && isMeasured(row) && (
        <span className="jp-mod-down"> {problem.what}</span>
      )}
    </td>
  );
  if (!isMeasured(row)) {
    return (
      <tr>
        {name}
        <td colSpan={5} className="jp-Compilescope-coldWords">
          {problem ? (
            <span className="jp-mod-down">{problem.what}</span>
          ) : (
            row.why
          )}
        </td>
        {change}
      </tr>
    );
  }
  const bar = (seconds: number | null, parts: ColdSwitch['cold_parts']) => (
    <td>{seconds !== null && <FirstBar parts={parts} longest={longest} />}</td>
  );
  return (
    <tr>
      <DeclaredCells
        table="cold"
        trans={trans}
        cells={{
          setting: name,
          cold: <Seconds row={row} figure="cold" context={context} />,
          cold_parts: bar(row.cold_s, row.cold_parts),
          warm: <Seconds row={row} figure="warm" context={context} />,
          warm_parts: bar(row.warm_s, row.warm_parts),
          call: (
            <td
              className="jp-mod-number"
              title={
                row.call_interval_us
                  ? formatInterval(row.call_interval_us)
                  : undefined
              }
            >
              {row.call_us === null ? '–' : formatMicroseconds(row.call_us)}
              <ExtraTime value={row.call_more_us} format={formatMicroseconds} />
            </td>
          ),
          change
        }}
      />
    </tr>
  );
}

function Seconds(props: {
  row: ColdSwitch;
  figure: 'cold' | 'warm';
  context: IViewContext;
}): JSX.Element {
  const { row, figure, context } = props;
  const value = figure === 'cold' ? row.cold_s : row.warm_s;
  return (
    <td className="jp-mod-number">
      {value === null ? (
        <AbsentValue why={row.why || context.trans.__('Not measured')} />
      ) : (
        <>
          <strong>{formatSeconds(value)}</strong>
          <ExtraTime
            value={figure === 'cold' ? row.cold_more_s : row.warm_more_s}
            format={formatSeconds}
          />
        </>
      )}
    </td>
  );
}

/**
 * The difference from the time without the setting; nothing if it is within
 * noise.
 */
function ExtraTime(props: {
  value: number | null;
  format: (value: number) => string;
}): JSX.Element | null {
  const { value, format } = props;
  if (!value) {
    return null;
  }
  return (
    <span
      className={`jp-Compilescope-coldMore ${value < 0 ? 'jp-mod-up' : 'jp-mod-down'}`}
    >
      {value < 0 ? '−' : '+'}
      {format(Math.abs(value))}
    </span>
  );
}
