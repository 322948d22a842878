import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Absent, Bar } from '../common';
import { formatMicroseconds } from '../../words/format';
import { formatRatio } from '../../words/format';
import type { ICandidate, ITable } from './choices';

/**
 * As many candidates as are listed at once.
 */
const MOST = 25;

/**
 * The candidates of an autotuning, the fastest first.
 */
export function Candidates(props: {
  table: ITable;
  label: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { table, label, trans } = props;
  const { candidates, columns, differing, best } = table;
  const [isWhole, setWhole] = React.useState(false);
  const shown = isWhole ? candidates : withChosen(candidates);
  const isWhy = candidates.some(({ choice }) => choice.why);
  return (
    <div className="jp-Compilescope-candidatesWide">
      <table className="jp-Compilescope-candidates">
        <caption className="jp-Compilescope-hidden">{label}</caption>
        <thead>
          <tr>
            <th scope="col">{trans.__('Candidate')}</th>
            <th scope="col">{trans.__('Kind')}</th>
            <th scope="col" className="jp-mod-number">
              {trans.__('Time')}
            </th>
            <th
              scope="col"
              className="jp-mod-number"
              title={trans.__('Its time relative to the best')}
            >
              {trans.__('vs. best')}
            </th>
            <td />
            {columns.map((name, index) => (
              <th
                key={name}
                scope="col"
                className={index < differing ? undefined : 'jp-mod-same'}
                title={
                  index < differing
                    ? undefined
                    : trans.__('The same in all candidates')
                }
              >
                <code>{name}</code>
              </th>
            ))}
            {isWhy && <th scope="col">{trans.__('Reason')}</th>}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ choice, ratio, bar }, index) => (
            <tr
              key={index}
              className={choice.chosen ? 'jp-mod-chosen' : undefined}
            >
              <th scope="row">
                {choice.chosen && (
                  <>
                    <span aria-hidden="true">✓ </span>
                    <span className="jp-Compilescope-hidden">
                      {trans.__('chosen:')}{' '}
                    </span>
                  </>
                )}
                <code>{choice.name}</code>
              </th>
              <td>{kindTitle(choice.kind, trans)}</td>
              <td className="jp-mod-number">
                {choice.time_us === null ? (
                  <Absent why={choice.why || trans.__('Not measured')} />
                ) : (
                  formatMicroseconds(choice.time_us)
                )}
              </td>
              <td className="jp-mod-number">
                {ratio !== null && best !== null
                  ? ratio === 1
                    ? trans.__('best')
                    : formatRatio(ratio)
                  : ''}
              </td>
              <td>{choice.time_us !== null && <Bar share={bar} />}</td>
              {columns.map((name, place) => (
                <td
                  key={name}
                  className={place < differing ? undefined : 'jp-mod-same'}
                >
                  <code>{choice.config[name] ?? ''}</code>
                </td>
              ))}
              {isWhy && <td className="jp-mod-why">{choice.why}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < candidates.length && (
        <button
          type="button"
          className="jp-Compilescope-button"
          onClick={() => setWhole(true)}
        >
          {trans.__('Show all %1', candidates.length)}
        </button>
      )}
    </div>
  );
}

/** The fastest ones, and the chosen one in any case. */
function withChosen(candidates: readonly ICandidate[]): ICandidate[] {
  return candidates.filter(
    ({ choice }, index) => index < MOST || choice.chosen
  );
}

/** torch's own words, where they are known ones in the reader's. */
function kindTitle(kind: string, trans: TranslationBundle): string {
  switch (kind) {
    case 'extern':
      return trans.__('extern call');
    case 'triton template':
      return trans.__('Triton template');
    case 'cpp template':
      return trans.__('C++ template');
    case 'config':
      return trans.__('configuration');
    default:
      return kind;
  }
}
