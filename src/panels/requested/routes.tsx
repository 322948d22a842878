import * as React from 'react';
import type { Route, VariantReport } from '../../protocol/types';
import { AbsentValue, SourceLink, useLoaded, ViewFrame } from '../common';
import {
  formatCount,
  formatInterval,
  formatMicroseconds
} from '../../words/format';
import { TABLES } from '../../words/tables';
import { DeclaredCells, declaredHeads } from '../common/tables/declared';
import { Figures } from '../common/tables/figures';
import { StudyButton } from '../common/study';
import type { IViewContext } from '../views';
import {
  findEverywhere,
  type IFindings,
  type ICompilationItem
} from './everywhere';
import { WrapperLines } from './lines';
import { Prose } from './prose';

/**
 * The maximum number of lines of a wrapper that are listed.
 */
const MAX_LINES = 4;

/**
 * How each wrapper calls the operators for which it has no kernel.
 */
export function Routes(props: {
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element {
  const { variants, context } = props;
  const { model, trans } = context;
  const state = useLoaded(
    () => find(variants, context),
    [model.subject, model.report?.revision].join(' '),
    trans.__('Loading operators…')
  );
  const reasons = new Map<string, string[]>();
  for (const { name, absent } of variants) {
    if (absent.routes) {
      const names = reasons.get(absent.routes) ?? [];
      reasons.set(absent.routes, [...names, name]);
    }
  }
  return (
    <section
      className="jp-Compilescope-routes"
      aria-labelledby="jp-Compilescope-routes"
    >
      <header>
        <h3 id="jp-Compilescope-routes">
          {trans.__('How extern and custom operators are called')}
        </h3>
        <StudyButton
          study="routes"
          label={trans.__('Measure call overhead')}
          variants={variants}
          unbuilt={trans.__('Build and time the variants first.')}
          context={context}
        />
      </header>
      <p className="jp-Compilescope-hint">
        {trans.__(
          'Where each is implemented, how the wrapper calls it, and how often one call takes the GIL for it.'
        )}
      </p>
      <ViewFrame
        state={state}
        trans={trans}
        show={({ rows, omitted, isUnrecorded }: IRoutes) => (
          <>
            {isUnrecorded ? (
              <p className="jp-Compilescope-hint">
                {trans.__('The report does not say how they are called.')}
              </p>
            ) : rows.length === 0 ? (
              <p className="jp-Compilescope-requestedGood">
                {trans.__('None: the wrappers launch generated kernels only.')}
              </p>
            ) : (
              <RoutesTable rows={rows} context={context} />
            )}
            {omitted > 0 && (
              <p className="jp-Compilescope-hint">
                {trans.__('%1 further compilations are not shown.', omitted)}
              </p>
            )}
          </>
        )}
      />
      {[...reasons].map(([why, names]) => (
        <p key={why} className="jp-Compilescope-hint">
          {names.join(', ')}: {why}
        </p>
      ))}
    </section>
  );
}

function RoutesTable(props: {
  rows: readonly ICompilationItem<Route>[];
  context: IViewContext;
}): JSX.Element {
  const { trans } = props.context;
  return (
    <Figures
      label={trans.__('Calls of operators, as a table')}
      name="routes"
      caption={trans.__('How extern and custom operators are called')}
      heads={declaredHeads('routes', trans)}
    >
      {mergeEqualRows(props.rows).map((rows, index) => (
        <RouteRow key={index} rows={rows} context={props.context} />
      ))}
    </Figures>
  );
}

/**
 * Merges the rows that differ only in the compilation and its lines.
 */
function mergeEqualRows(
  rows: readonly ICompilationItem<Route>[]
): ICompilationItem<Route>[][] {
  const groups = new Map<string, ICompilationItem<Route>[]>();
  for (const row of rows) {
    const key = JSON.stringify([row.variant, { ...row.item, lines: [] }]);
    const group = groups.get(key);
    if (group) {
      group.push(row);
    } else {
      groups.set(key, [row]);
    }
  }
  return [...groups.values()];
}

/**
 * @param props.rows - The same call in several compilations of a variant.
 */
function RouteRow(props: {
  rows: readonly ICompilationItem<Route>[];
  context: IViewContext;
}): JSX.Element {
  const { rows, context } = props;
  const { trans } = context;
  const { variant, item: route } = rows[0];
  const { direction, interval_us: interval, where } = route;
  const columns = TABLES.routes(trans);
  const [isWhole, setWhole] = React.useState(false);
  const calls = rows.flatMap(({ compilation, item }) =>
    item.lines.map(line => ({ compilation, line }))
  );
  const shown = isWhole ? calls : calls.slice(0, MAX_LINES);
  return (
    <tr>
      <DeclaredCells
        table="routes"
        trans={trans}
        cells={{
          operator: (
            <th scope="row">
              <code title={route.operator}>{breakable(route.operator)}</code>
            </th>
          ),
          variant: (
            <td>
              {variant}
              <span className="jp-Compilescope-muted">
                {' '}
                {rows.map(({ compilation }) => compilation).join(', ')}
                {direction === 'backward' && ` ${trans.__('backward')}`}
              </span>
            </td>
          ),
          registered: (
            <td>
              {columns.registered.words[route.registered]}{' '}
              {where && (
                <SourceLink where={where} context={context} origin={ORIGIN} />
              )}
            </td>
          ),
          via: <td>{route.way && columns.via.words[route.way]}</td>,
          gil: <td className="jp-mod-number">{formatCount(route.gil)}</td>,
          overhead: (
            <td className="jp-mod-number">
              {route.us === null ? (
                <AbsentValue why={route.how || trans.__('Not measured')} />
              ) : (
                <span
                  title={[interval && formatInterval(interval), route.how]
                    .filter(Boolean)
                    .join('\n')}
                >
                  {formatMicroseconds(route.us)}
                </span>
              )}
            </td>
          ),
          lines: (
            <td className="jp-Compilescope-routeLines">
              {rows.map(({ compilation }) => {
                const lines = shown
                  .filter(call => call.compilation === compilation)
                  .map(({ line }) => line);
                return (
                  lines.length > 0 && (
                    <span
                      key={compilation}
                      className="jp-Compilescope-routeCalls"
                    >
                      {rows.length > 1 && (
                        <span className="jp-Compilescope-muted">
                          {compilation}:{' '}
                        </span>
                      )}
                      <WrapperLines
                        variant={variant}
                        compilation={compilation}
                        of={route}
                        lines={lines}
                        context={context}
                      />
                    </span>
                  )
                );
              })}
              {shown.length < calls.length && (
                <button
                  type="button"
                  className="jp-Compilescope-link"
                  onClick={() => setWhole(true)}
                >
                  {trans.__('%1 more', calls.length - shown.length)}
                </button>
              )}
            </td>
          ),
          why: (
            <td className="jp-Compilescope-routeWords">
              {route.why && <Prose text={route.why} trans={trans} />}
              {route.remedy && (
                <div className="jp-Compilescope-remedy">
                  <Prose text={route.remedy} trans={trans} isRemedy />
                </div>
              )}
            </td>
          )
        }}
      />
    </tr>
  );
}

const ORIGIN = {};

/**
 * An operator's name, which is long and has no spaces, with positions for line
 * breaks.
 */
function breakable(name: string): React.ReactNode {
  return name.split(/(?<=_|::|\.)(?=[a-z])/i).map((part, index) => (
    <React.Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </React.Fragment>
  ));
}

/**
 * How operators are called, and whether the report lacks that although there
 * are such calls: it was saved by an earlier version.
 */
interface IRoutes extends IFindings<Route> {
  readonly isUnrecorded: boolean;
}

async function find(
  variants: readonly VariantReport[],
  context: IViewContext
): Promise<IRoutes> {
  const { rows, omitted } = await findEverywhere(
    variants,
    context,
    'crossings',
    ({ routes }) => routes
  );
  const called =
    rows.length > 0
      ? null
      : await findEverywhere(variants, context, 'kernels', ({ kernels }) =>
          kernels.filter(({ language }) => language === 'extern')
        );
  // User-defined operators precede torch's own.
  const rank = ({ item }: ICompilationItem<Route>) =>
    Number(item.registered === 'torch');
  return {
    rows: [...rows].sort(
      (a, b) =>
        rank(a) - rank(b) || a.item.operator.localeCompare(b.item.operator)
    ),
    omitted,
    isUnrecorded: called !== null && called.rows.length > 0
  };
}
