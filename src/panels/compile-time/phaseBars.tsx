import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatMicroseconds, formatShare } from '../../words/format';
import { kindClass } from './timeline/colours';
import { compareKinds, kindTitle } from './kinds';
import { runTitle } from './phrases';
import type { Run } from './timeline/lanes';
import type { IShares } from './shares';
import { shareOf } from './shares';
import type { Heads } from '../common/tables/figures';
import { TableHead } from '../common/tables/figures';

/**
 * Where a run's time went.
 */
export interface IRunShares {
  readonly run: Run;
  readonly shares: IShares;

  /**
   * The whole, in µs: what the first call took, where that was measured.
   */
  readonly whole: number;
}

/**
 * The time by kind of phase: a bar for each run, on one scale, and the figures,
 * which are the bars' legend.
 */
export function Shares(props: {
  runs: readonly IRunShares[];
  trans: TranslationBundle;
}): JSX.Element {
  const { runs, trans } = props;
  const longest = Math.max(...runs.map(({ whole }) => whole));
  const kinds = [
    ...new Set(runs.flatMap(({ shares }) => shares.kinds.map(k => k.kind)))
  ].sort(compareKinds);
  const hasOutside = runs.some(runShares => outside(runShares) > 0);
  const hasAlongside = runs.some(({ shares }) =>
    shares.kinds.some(kind => kind.alongside > 0)
  );
  return (
    <div className="jp-Compilescope-timeShares">
      {runs.map(runShares => (
        <StackedBar
          key={runShares.run}
          {...runShares}
          longest={longest}
          trans={trans}
        />
      ))}
      <table>
        <caption className="jp-Compilescope-hidden">
          {trans.__('Time by kind of phase')}
        </caption>
        <TableHead
          heads={[
            trans.__('Kind'),
            ...runs.flatMap(({ run }): Heads => [
              runTitle(run, trans),
              trans.__('share'),
              hasAlongside && {
                label: trans.__('in parallel'),
                title: trans.__(
                  'On other threads and in other processes, at the same time: not part of the sum'
                )
              }
            ])
          ]}
        />
        <tbody>
          {kinds.map(kind => (
            <tr key={kind}>
              <th scope="row">
                <span className={kindClass(kind)} aria-hidden="true" />
                {kindTitle(kind, trans)}
              </th>
              {runs.map(({ run, shares, whole }) => {
                const { self, alongside } = shareOf(shares, kind);
                return (
                  <React.Fragment key={run}>
                    <td>{time(self)}</td>
                    <td>{share(self, whole)}</td>
                    {hasAlongside && <td>{time(alongside)}</td>}
                  </React.Fragment>
                );
              })}
            </tr>
          ))}
          {hasOutside && (
            <tr className="jp-Compilescope-muted">
              <th scope="row">
                <span className={kindClass('outside')} aria-hidden="true" />
                {trans.__('outside torch’s phases')}
              </th>
              {runs.map(runShares => (
                <React.Fragment key={runShares.run}>
                  <td>{time(outside(runShares))}</td>
                  <td>{share(outside(runShares), runShares.whole)}</td>
                  {hasAlongside && <td />}
                </React.Fragment>
              ))}
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{trans.__('total')}</th>
            {runs.map(({ run, whole }) => (
              <React.Fragment key={run}>
                <td>{time(whole)}</td>
                <td>{share(whole, whole)}</td>
                {hasAlongside && <td />}
              </React.Fragment>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function StackedBar(
  props: IRunShares & { longest: number; trans: TranslationBundle }
): JSX.Element {
  const { run, shares, whole, longest, trans } = props;
  const part = (time: number) => `${longest ? (time / longest) * 100 : 0}%`;
  return (
    <div className="jp-Compilescope-timeStack" aria-hidden="true">
      <span>{runTitle(run, trans)}</span>
      <div>
        {shares.kinds
          .filter(({ self }) => self > 0)
          .map(({ kind, self }) => (
            <span
              key={kind}
              className={kindClass(kind)}
              style={{ width: part(self) }}
              title={`${kindTitle(kind, trans)}: ${time(self)}`}
            />
          ))}
        <span
          className={kindClass('outside')}
          style={{ width: part(outside(props)) }}
        />
      </div>
      <span>{formatMicroseconds(whole)}</span>
    </div>
  );
}

/** What no phase accounts for, in µs. */
function outside({ shares, whole }: IRunShares): number {
  const rest = whole - shares.total;
  // Two clocks: less than a thousandth means nothing.
  return rest > whole / 1e3 ? rest : 0;
}

function time(microseconds: number): string {
  return microseconds > 0 ? formatMicroseconds(microseconds) : '–';
}

function share(part: number, whole: number): string {
  return part > 0 && whole > 0 ? formatShare(part / whole) : '';
}
