import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Absent, Badge } from '../common';
import { formatCount } from '../../words/format';
import { formatInterval, formatMicroseconds } from '../../words/format';
import { Figures, type IHead } from '../common/tables/figures';
import { speedupClass } from '../common/speedup';
import { keepingText } from './phrases';
import type { ITimed } from './rows';
import { comparison } from '../../words/comparison';

/**
 * What the plots show, in figures.
 */
export function TimesTable(props: {
  rows: readonly ITimed[];
  trans: TranslationBundle;
}): JSX.Element {
  const { rows, trans } = props;
  const baseline = rows.find(each => each.isBaseline)?.name ?? 'eager';
  const hasDevice = rows.some(
    each => each.host !== null || each.deviceTime !== null
  );
  return (
    <>
      <Figures
        label={trans.__('Times in figures')}
        caption={trans.__('Latency by variant')}
        heads={[
          { label: trans.__('Variant') },
          { label: trans.__('median'), isNumber: true },
          {
            label: trans.__('95 % interval'),
            title: trans.__('Of the median'),
            isNumber: true
          },
          {
            label: trans.__('over %1', baseline),
            title: trans.__('From the rounds that have both')
          },
          ...(hasDevice ? deviceHeads(trans) : []),
          { label: trans.__('samples'), isNumber: true },
          {
            label: trans.__('calls per sample'),
            title: trans.__('Calls that are timed together as one sample'),
            isNumber: true
          },
          {
            label: trans.__('warm-up calls'),
            title: trans.__('Calls before the first sample'),
            isNumber: true
          }
        ]}
      >
        {rows.map(row => (
          <Row key={row.name} row={row} hasDevice={hasDevice} trans={trans} />
        ))}
      </Figures>
      <Conditions rows={rows} trans={trans} />
    </>
  );
}

function deviceHeads(trans: TranslationBundle): IHead[] {
  return [
    {
      label: trans.__('host'),
      title: trans.__('Until the call returns; its kernels may still run'),
      isNumber: true
    },
    {
      label: trans.__('device'),
      title: trans.__('Between two events of the stream around the call'),
      isNumber: true
    }
  ];
}

function Row(props: {
  row: ITimed;
  hasDevice: boolean;
  trans: TranslationBundle;
}): JSX.Element {
  const { row, trans } = props;
  const none = <Absent why={trans.__('Not measured')} />;
  return (
    <tr>
      <th scope="row">
        <Swatch colour={row.colour} />
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
      <td className="jp-mod-number">
        {row.median === null ? none : formatMicroseconds(row.median)}
      </td>
      <td className="jp-mod-number">
        {row.few ? (
          <Absent why={trans.__('Too few samples for an interval')} />
        ) : row.interval ? (
          formatInterval(row.interval)
        ) : (
          none
        )}
      </td>
      <td
        className={row.speedup ? speedupClass(row.speedup) : undefined}
        title={row.speedup?.detail}
      >
        {comparison(row, trans)}
      </td>
      {props.hasDevice && (
        <>
          <td className="jp-mod-number">
            {row.host === null ? none : formatMicroseconds(row.host)}
          </td>
          <td className="jp-mod-number">
            {row.deviceTime === null
              ? none
              : formatMicroseconds(row.deviceTime)}
          </td>
        </>
      )}
      <td className="jp-mod-number">{formatCount(row.samples.length)}</td>
      <td className="jp-mod-number">{formatCount(row.calls)}</td>
      <td className="jp-mod-number">{formatCount(row.warmup)}</td>
    </tr>
  );
}

/**
 * The colour that a variant has in the plots; grey is the baseline's.
 */
export function Swatch({ colour }: { colour: number }): JSX.Element {
  const name = colour < 0 ? 'baseline' : `series${colour % 7}`;
  return (
    <span
      className={`jp-Compilescope-swatch jp-mod-${name}`}
      aria-hidden="true"
    />
  );
}

/**
 * Under which conditions it was measured: how the state was kept, the device,
 * the threads. Variants of which the same is said share a line.
 */
function Conditions(props: {
  rows: readonly ITimed[];
  trans: TranslationBundle;
}): JSX.Element | null {
  const { rows, trans } = props;
  const lines = new Map<string, string[]>();
  for (const row of rows) {
    const keeping = keepingText(row, trans);
    const threads = row.timing?.threads ?? 0;
    const text = [
      row.device,
      threads > 0 && trans._n('%1 thread', '%1 threads', threads),
      keeping
    ]
      .filter(Boolean)
      .join(' · ');
    if (keeping) {
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
