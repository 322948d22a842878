import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { DeployWay } from '../../../protocol/types';
import {
  formatBytes,
  formatInterval,
  formatMicroseconds,
  formatSeconds
} from '../../../words/format';
import { AbsentValue } from '../../common';
import { SpeedupText } from '../../common/speedup';
import { DeclaredCells, declaredHeads } from '../../common/tables/declared';
import { Figures } from '../../common/tables/figures';
import { isMeasured } from './chart';

/**
 * The figures of the ways, and the restrictions of each; for those that were
 * not measured, the reason.
 *
 * @param props.chosen - The name of the way whose code is shown.
 */
export function WaysTable(props: {
  ways: readonly DeployWay[];
  chosen: string;
  onChoose: (name: string) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { ways, chosen, onChoose, trans } = props;
  return (
    <Figures
      label={trans.__('Ways to deploy, as a table')}
      name="ways"
      caption={trans.__('Ways to deploy the call, each in new processes')}
      heads={declaredHeads('ways', trans)}
    >
      {ways.map(way => (
        <Row
          key={way.name}
          way={way}
          isChosen={way.name === chosen}
          onChoose={() => onChoose(way.name)}
          trans={trans}
        />
      ))}
    </Figures>
  );
}

function Row(props: {
  way: DeployWay;
  isChosen: boolean;
  onChoose: () => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { way, isChosen, onChoose, trans } = props;
  const { problem, as_eager: asEager } = way;
  if (!isMeasured(way)) {
    return (
      <tr>
        <th scope="row" title={way.title}>
          {way.name}
        </th>
        <td colSpan={7} className="jp-Compilescope-wayWords">
          {problem ? (
            <span className="jp-mod-down">
              {problem.what} {problem.why}
            </span>
          ) : (
            way.why
          )}
        </td>
      </tr>
    );
  }
  return (
    <tr className={isChosen ? 'jp-mod-chosen' : undefined}>
      <DeclaredCells
        table="ways"
        trans={trans}
        cells={{
          way: (
            <th scope="row" title={way.title}>
              <button
                type="button"
                className="jp-Compilescope-link"
                aria-pressed={isChosen}
                onClick={onChoose}
              >
                {way.name}
              </button>
            </th>
          ),
          cold: <Figure value={way.cold_s} format={formatSeconds} />,
          cached: (
            <Figure
              value={way.cached_s}
              format={formatSeconds}
              why={trans.__('Not measured')}
            />
          ),
          shipped: (
            <Figure
              value={way.shipped_s}
              format={formatSeconds}
              why={way.shipped_why || trans.__('Nothing is shipped')}
              more={way.ship_bytes === null ? '' : formatBytes(way.ship_bytes)}
              title={way.ships.join(', ')}
            />
          ),
          call: (
            <Figure
              value={way.call_us}
              format={formatMicroseconds}
              why={trans.__('Not measured')}
              more={
                way.speedup && (
                  <SpeedupText speedup={way.speedup} trans={trans} />
                )
              }
              title={callTitle(way, trans)}
            />
          ),
          memory: (
            <Figure
              value={way.memory_bytes}
              format={formatBytes}
              why={trans.__('Not measured')}
            />
          ),
          accurate: (
            <td
              className={
                asEager === null ? '' : asEager ? 'jp-mod-up' : 'jp-mod-down'
              }
              title={way.comparison}
            >
              {asEager === null
                ? '–'
                : asEager
                  ? trans.__('✓ yes')
                  : trans.__('✗ no')}
            </td>
          ),
          restrictions: (
            <td className="jp-Compilescope-wayWords">
              {problem && <span className="jp-mod-down">{problem.what} </span>}
              {asEager === false && way.comparison && (
                <span className="jp-mod-down">{way.comparison} </span>
              )}
              <span className={way.safe ? undefined : 'jp-mod-down'}>
                {way.restrictions.join('; ')}
              </span>
            </td>
          )
        }}
      />
    </tr>
  );
}

function callTitle(way: DeployWay, trans: TranslationBundle): string {
  return [
    way.call_interval_us ? formatInterval(way.call_interval_us) : '',
    way.eager_us === null
      ? ''
      : trans.__('in eager %1', formatMicroseconds(way.eager_us))
  ]
    .filter(Boolean)
    .join('; ');
}

function Figure(props: {
  value: number | null;
  format: (value: number) => string;
  why?: string;
  more?: React.ReactNode;
  title?: string;
}): JSX.Element {
  const { value, format, why = '', more, title } = props;
  return (
    <td className="jp-mod-number" title={title || undefined}>
      {value === null ? <AbsentValue why={why} /> : format(value)}
      {value !== null && more && (
        <span className="jp-Compilescope-wayMore">{more}</span>
      )}
    </td>
  );
}
