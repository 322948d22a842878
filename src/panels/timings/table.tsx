import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { AbsentValue, Badge } from '../common';
import { formatCount, formatMicroseconds } from '../../words/format';
import { DeclaredCells, declaredHeads } from '../common/tables/declared';
import { Figures } from '../common/tables/figures';
import { speedupClass } from '../common/speedup';
import { initialStateText } from './phrases';
import type { ITimed } from './rows';
import { comparison } from '../../words/comparison';

/**
 * Columns that a narrow view omits: how the latency was measured.
 */
const SPARE_COLUMN = 'jp-mod-number jp-mod-spare';

/**
 * The figures of the plots.
 */
export function TimesTable(props: {
  rows: readonly ITimed[];
  trans: TranslationBundle;
}): JSX.Element {
  const { rows, trans } = props;
  const baseline = rows.find(row => row.isBaseline)?.name ?? 'eager';
  const hasDevice = rows.some(
    row => row.host !== null || row.deviceTime !== null
  );
  return (
    <>
      <Figures
        label={trans.__('Times as a table')}
        caption={trans.__('Latency by variant')}
        heads={declaredHeads('variants', trans, {
          estimated: false,
          speedup: { label: trans.__('over %1', baseline) },
          host: hasDevice && {},
          device: hasDevice && {},
          samples: { className: SPARE_COLUMN },
          calls: { className: SPARE_COLUMN },
          warmup: { className: SPARE_COLUMN },
          compile: false,
          accurate: false
        })}
      >
        {rows.map(row => (
          <Row key={row.name} row={row} hasDevice={hasDevice} trans={trans} />
        ))}
      </Figures>
      <Conditions rows={rows} trans={trans} />
    </>
  );
}

function Row(props: {
  row: ITimed;
  hasDevice: boolean;
  trans: TranslationBundle;
}): JSX.Element {
  const { row, trans } = props;
  const none = <AbsentValue why={trans.__('Not measured')} />;
  const time = (us: number | null) => (
    <td className="jp-mod-number">
      {us === null ? none : formatMicroseconds(us)}
    </td>
  );
  const count = (value: number) => (
    <td className={SPARE_COLUMN}>{formatCount(value)}</td>
  );
  return (
    <tr>
      <DeclaredCells
        table="variants"
        trans={trans}
        cells={{
          variant: (
            <th scope="row">
              <Swatch color={row.color} />
              <span title={row.name}>{row.name}</span>
              {!row.isInTurns && (
                <Badge
                  title={trans.__(
                    'Measured after the build, not in the same rounds as the others'
                  )}
                >
                  {trans.__('from the build')}
                </Badge>
              )}
              {!row.settled && (
                <Badge
                  kind="warning"
                  title={trans.__(
                    'The warm-up reached its time limit while times still changed'
                  )}
                >
                  {trans.__('not settled')}
                </Badge>
              )}
            </th>
          ),
          median: time(row.median),
          interval: (
            <td className="jp-mod-number">
              {row.few ? <small>{row.intervalText}</small> : row.intervalText}
              {row.interval === null && none}
            </td>
          ),
          estimated: false,
          speedup: (
            <td
              className={row.speedup ? speedupClass(row.speedup) : undefined}
              title={row.speedup?.detail}
            >
              {comparison(row, trans)}
            </td>
          ),
          host: props.hasDevice && time(row.host),
          device: props.hasDevice && time(row.deviceTime),
          samples: count(row.samples.length),
          calls: count(row.calls),
          warmup: count(row.warmup),
          compile: false,
          accurate: false
        }}
      />
    </tr>
  );
}

/**
 * The color of a variant in the plots; gray for the baseline.
 */
function Swatch({ color }: { color: number }): JSX.Element {
  const name = color < 0 ? 'baseline' : `series${color % 7}`;
  return (
    <span
      className={`jp-Compilescope-swatch jp-mod-${name}`}
      aria-hidden="true"
    />
  );
}

/**
 * The conditions of the measurement: how the state was kept, the device, the
 * threads. Variants with the same conditions share a line.
 */
function Conditions(props: {
  rows: readonly ITimed[];
  trans: TranslationBundle;
}): JSX.Element | null {
  const { rows, trans } = props;
  const lines = new Map<string, string[]>();
  for (const row of rows) {
    const initialState = initialStateText(row, trans);
    const threads = row.timing?.threads ?? 0;
    const text = [
      row.device,
      threads > 0 && trans._n('%1 thread', '%1 threads', threads),
      initialState
    ]
      .filter(Boolean)
      .join(' · ');
    if (initialState) {
      lines.set(text, [...(lines.get(text) ?? []), row.name]);
    }
  }
  if (lines.size === 0) {
    return null;
  }
  return (
    <ul className="jp-Compilescope-conditions">
      {[...lines].map(([text, names]) => (
        <li key={text}>
          {lines.size > 1 && <strong>{names.join(', ')}</strong>} {text}
        </li>
      ))}
    </ul>
  );
}
