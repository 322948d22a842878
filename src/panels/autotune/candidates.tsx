import type { TranslationBundle } from '@jupyterlab/translation';
import { CHOICE_KINDS } from '../../protocol/types';
import * as React from 'react';
import { AbsentValue, Bar, ShowAll } from '../common';
import { formatMicroseconds, formatRatio } from '../../words/format';
import type { ICandidate, ITable } from './choices';
import { TableHead } from '../common/tables/figures';

/**
 * The maximum number of candidates listed at once.
 */
const MAX_CANDIDATES = 25;

/**
 * The columns before those of the configurations.
 */
const FIRST_COLUMNS = 5;

/**
 * The candidates of an autotuning, fastest first.
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
  const count = FIRST_COLUMNS + columns.length;
  return (
    <div className="jp-Compilescope-candidatesWide">
      <table className="jp-Compilescope-candidates">
        <caption className="jp-Compilescope-hidden">{label}</caption>
        <TableHead
          heads={[
            trans.__('Candidate'),
            trans.__('Kind'),
            { label: trans.__('Time'), isNumber: true },
            {
              label: trans.__('vs. best'),
              title: trans.__('Its time relative to the best'),
              isNumber: true
            },
            {},
            ...columns.map((name, index) => ({
              label: <code>{name}</code>,
              ...(index >= differing && {
                className: 'jp-mod-same',
                title: trans.__('The same in all candidates')
              })
            }))
          ]}
        />
        <tbody>
          {shown.map(({ choice, ratio, bar }, index) => (
            <React.Fragment key={index}>
              <tr className={choice.chosen ? 'jp-mod-chosen' : undefined}>
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
                <td>{CHOICE_KINDS[choice.kind] ?? choice.kind}</td>
                <td className="jp-mod-number">
                  {choice.time_us === null ? (
                    <AbsentValue why={choice.why || trans.__('Not measured')} />
                  ) : (
                    formatMicroseconds(choice.time_us)
                  )}
                </td>
                <td className="jp-mod-number" title={choice.why || undefined}>
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
              </tr>
              {/* For a measured candidate, the ratio already says it. A separate
                  column would be out of sight. */}
              {choice.why && ratio === null && (
                <tr className="jp-mod-why">
                  <td colSpan={count}>
                    <div>{choice.why}</div>
                  </td>
                </tr>
              )}
            </React.Fragment>
          ))}
        </tbody>
      </table>
      <ShowAll
        shown={shown.length}
        total={candidates.length}
        onClick={() => setWhole(true)}
        trans={trans}
      />
    </div>
  );
}

/** The fastest candidates, and always the chosen one. */
function withChosen(candidates: readonly ICandidate[]): ICandidate[] {
  return candidates.filter(
    ({ choice }, index) => index < MAX_CANDIDATES || choice.chosen
  );
}
