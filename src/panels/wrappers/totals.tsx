import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Step, Steps, StepSum } from '../../protocol/types';
import {
  formatCount,
  formatMicroseconds,
  formatShare
} from '../../words/format';
import { ScrollableTable } from '../common/study';
import { KIND_ORDER, kindClass, kindTitle } from '../../words/steps';
import type { IGraph, IPair } from './types';
import { TableHead, type Heads } from '../common/tables/figures';
import { TABLES } from '../../words/tables';

const SIDES: readonly Steps['artifact'][] = ['python', 'cpp'];

/**
 * The minimum fraction of the longest bar that is drawn: anything less would be
 * just a line.
 */
const MIN_BAR_SHARE = 0.003;

/**
 * The number of steps of each kind in either wrapper, and their cost: as bars
 * on one scale, and as figures.
 *
 * @param props.missing - The text for a missing wrapper; empty if both exist.
 * @param props.unmeasured - The text if no step was measured.
 */
export function Totals(props: {
  graph: IGraph;
  pair: IPair;
  missing: string;
  unmeasured: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { graph, pair, trans } = props;
  const kinds = React.useMemo(
    () => kindsOf(graph.python, graph.cpp),
    [graph.python, graph.cpp]
  );
  const sides = SIDES.filter(side => graph[side] !== null);
  const measured = sides.filter(side => graph[side]?.whole_us !== null);
  const isTimed = (side: Steps['artifact']) => measured.includes(side);
  const columns = TABLES.steps(trans);
  const headsOf = (wrapper: string, timed: boolean): Heads => {
    const { count, time, share } = columns;
    return (timed ? [count, time, share] : [count]).map(column => ({
      label: column.title.replace('{wrapper}', wrapper),
      title: column.note,
      isNumber: true
    }));
  };
  const longest = Math.max(
    0,
    ...measured.map(side =>
      Math.max(graph[side]?.sum_us ?? 0, graph[side]?.whole_us ?? 0)
    )
  );
  const title = (side: Steps['artifact']) =>
    (side === 'python' ? trans.__('Python') : trans.__('C++')) +
    (pair[side] === null || pair[side] === side ? '' : ` (${pair[side]})`);
  return (
    <section aria-label={trans.__('Steps by kind')}>
      {measured.map(side => (
        <Stack
          key={side}
          title={title(side)}
          side={side}
          steps={graph[side]!}
          kinds={kinds}
          longest={longest}
          trans={trans}
        />
      ))}
      <ScrollableTable label={trans.__('Steps by kind, as a table')}>
        <table
          className="jp-Compilescope-figures jp-Compilescope-stepFigures"
          aria-label={trans.__('Steps by kind')}
        >
          <TableHead
            heads={[
              columns.step.title,
              ...sides.flatMap(side => headsOf(title(side), isTimed(side)))
            ]}
          />
          <tbody>
            {kinds.map(kind => (
              <tr key={kind.kind}>
                <th scope="row">
                  <span className={kindClass(kind.kind)} aria-hidden="true" />
                  {kindTitle(kind.kind)}
                </th>
                {sides.map(side => (
                  <React.Fragment key={side}>
                    <td className="jp-mod-number">
                      {countText(kind[side]?.count)}
                    </td>
                    {isTimed(side) && (
                      <Figures
                        us={kind[side]?.us ?? null}
                        share={kind[side]?.share ?? null}
                      />
                    )}
                  </React.Fragment>
                ))}
              </tr>
            ))}
          </tbody>
          {measured.length > 0 && (
            <tfoot>
              <tr>
                <th scope="row">{trans.__('sum')}</th>
                {sides.map(side => (
                  <React.Fragment key={side}>
                    <td className="jp-mod-number">
                      {countText(graph[side]?.steps.length)}
                    </td>
                    {isTimed(side) && (
                      <Figures us={graph[side]?.sum_us ?? null} />
                    )}
                  </React.Fragment>
                ))}
              </tr>
              <tr>
                <th scope="row">{trans.__('whole call, not instrumented')}</th>
                {sides.map(side => (
                  <React.Fragment key={side}>
                    <td />
                    {isTimed(side) && (
                      <Figures us={graph[side]?.whole_us ?? null} />
                    )}
                  </React.Fragment>
                ))}
              </tr>
            </tfoot>
          )}
        </table>
      </ScrollableTable>
      {sides
        .filter(side => graph[side]?.why)
        .map(side => (
          <p key={side} className="jp-Compilescope-hint">
            {title(side)}: {graph[side]?.why}
          </p>
        ))}
      {props.missing && <p className="jp-Compilescope-hint">{props.missing}</p>}
      {measured.length === 0 && (
        <p className="jp-Compilescope-hint">{props.unmeasured}</p>
      )}
    </section>
  );
}

/**
 * A kind of step, and its steps in either wrapper.
 */
interface IKind {
  readonly kind: Step['kind'];
  readonly python: StepSum | null;
  readonly cpp: StepSum | null;
}

/**
 * The kinds of steps that either wrapper has, in the order of a call.
 */
function kindsOf(python: Steps | null, cpp: Steps | null): readonly IKind[] {
  const sumOf = (steps: Steps | null, kind: Step['kind']) =>
    steps?.kinds.find(sum => sum.kind === kind) ?? null;
  return KIND_ORDER.map(kind => ({
    kind,
    python: sumOf(python, kind),
    cpp: sumOf(cpp, kind)
  })).filter(row => row.python ?? row.cpp);
}

function Stack(props: {
  title: string;
  side: Steps['artifact'];
  steps: Steps;
  kinds: readonly IKind[];
  longest: number;
  trans: TranslationBundle;
}): JSX.Element {
  const { title, side, steps, kinds, longest, trans } = props;
  const part = (us: number) =>
    `${longest > 0 ? (Math.max(0, us) / longest) * 100 : 0}%`;
  return (
    <div className="jp-Compilescope-stack">
      <span className="jp-Compilescope-stackName" title={title}>
        {title}
      </span>
      <div className="jp-Compilescope-stackBar" aria-hidden="true">
        {kinds
          .filter(kind => (kind[side]?.us ?? 0) > longest * MIN_BAR_SHARE)
          .map(kind => (
            <span
              key={kind.kind}
              className={kindClass(kind.kind)}
              style={{ width: part(kind[side]?.us ?? 0) }}
              title={`${kindTitle(kind.kind)}: ${formatMicroseconds(kind[side]?.us ?? 0)}`}
            />
          ))}
        <span
          className="jp-Compilescope-stackWhole"
          style={{ left: part(steps.whole_us ?? 0) }}
          title={trans.__(
            'Whole call, not instrumented: %1',
            formatMicroseconds(steps.whole_us ?? 0)
          )}
        />
      </div>
      <span
        className={`jp-Compilescope-stackSum${steps.agrees ? '' : ' jp-mod-off'}`}
      >
        {trans.__(
          'sum %1 of %2',
          formatMicroseconds(steps.sum_us ?? 0),
          formatMicroseconds(steps.whole_us ?? 0)
        )}
      </span>
    </div>
  );
}

function countText(count: number | undefined): string {
  return count === undefined ? '–' : formatCount(count);
}

function Figures(props: {
  us: number | null;
  share?: number | null;
}): JSX.Element {
  const { us, share = null } = props;
  return (
    <>
      <td className="jp-mod-number">
        {us === null ? '–' : formatMicroseconds(us)}
      </td>
      <td className="jp-mod-number jp-Compilescope-muted">
        {share === null ? '' : formatShare(share)}
      </td>
    </>
  );
}
