import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatMicroseconds, formatShare } from '../../words/format';
import { kindClass } from './timeline/colors';
import { compareKinds, kindTitle } from './kinds';
import { runTitle } from './phrases';
import type { IRunTimes } from './kindTimes';
import { kindTime } from './kindTimes';
import type { Heads } from '../common/tables/figures';
import { TableHead } from '../common/tables/figures';

/**
 * The time by kind of phase: a bar for each run, on one scale, and the figures,
 * which serve as the bars' legend.
 */
export function Shares(props: {
  runs: readonly IRunTimes[];
  trans: TranslationBundle;
}): JSX.Element {
  const { runs, trans } = props;
  const longest = Math.max(...runs.map(({ whole }) => whole));
  const kinds = [
    ...new Set(runs.flatMap(({ kinds }) => kinds.map(({ kind }) => kind)))
  ].sort(compareKinds);
  const hasOutside = runs.some(({ outside }) => outside > 0);
  const hasParallel = runs.some(({ kinds }) =>
    kinds.some(({ parallel_us }) => parallel_us > 0)
  );
  return (
    <div className="jp-Compilescope-timeShares">
      {runs.map(times => (
        <StackedBar
          key={times.run}
          {...times}
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
              hasParallel && {
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
              {runs.map(times => {
                const { self_us, parallel_us } = kindTime(times, kind);
                return (
                  <React.Fragment key={times.run}>
                    <td>{time(self_us)}</td>
                    <td>{share(self_us, times.whole)}</td>
                    {hasParallel && <td>{time(parallel_us)}</td>}
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
              {runs.map(({ run, outside, whole }) => (
                <React.Fragment key={run}>
                  <td>{time(outside)}</td>
                  <td>{share(outside, whole)}</td>
                  {hasParallel && <td />}
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
                {hasParallel && <td />}
              </React.Fragment>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function StackedBar(
  props: IRunTimes & { longest: number; trans: TranslationBundle }
): JSX.Element {
  const { run, kinds, whole, outside, longest, trans } = props;
  const part = (time: number) => `${longest ? (time / longest) * 100 : 0}%`;
  return (
    <div className="jp-Compilescope-timeStack" aria-hidden="true">
      <span>{runTitle(run, trans)}</span>
      <div>
        {kinds
          .filter(({ self_us }) => self_us > 0)
          .map(({ kind, self_us }) => (
            <span
              key={kind}
              className={kindClass(kind)}
              style={{ width: part(self_us) }}
              title={`${kindTitle(kind, trans)}: ${time(self_us)}`}
            />
          ))}
        <span
          className={kindClass('outside')}
          style={{ width: part(outside) }}
        />
      </div>
      <span>{formatMicroseconds(whole)}</span>
    </div>
  );
}

function time(microseconds: number): string {
  return microseconds > 0 ? formatMicroseconds(microseconds) : '–';
}

function share(part: number, whole: number): string {
  return part > 0 && whole > 0 ? formatShare(part / whole) : '';
}
