import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Route, VariantReport } from '../../protocol/types';
import {
  Absent,
  formatMicroseconds,
  SourceLink,
  useLoaded,
  ViewFrame
} from '../common';
import { formatInterval } from '../sidebar/format';
import { StudyButton, Wide } from '../timings/study';
import type { IViewContext } from '../views';

/**
 * At most so many compilations of a variant are asked for their routes.
 */
const MOST_COMPILATIONS = 50;

/**
 * As many lines of a wrapper as are listed at once.
 */
const MOST_LINES = 4;

interface IFound {
  readonly variant: string;
  readonly compilation: string;
  readonly route: Route;
}

/**
 * How each wrapper reaches the operators that it has no kernel for.
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
    trans.__('Looking for operators…')
  );
  const reasons = variants.filter(each => each.absent.routes);
  return (
    <section
      className="jp-Compilescope-routes"
      aria-labelledby="jp-Compilescope-routes"
    >
      <header>
        <h3 id="jp-Compilescope-routes">
          {trans.__('Ways to operators without a generated kernel')}
        </h3>
        <StudyButton
          study="routes"
          label={trans.__('Measure the ways')}
          title={trans.__(
            'Times what reaching each custom operator costs, without its own work: about a second for each'
          )}
          variants={variants}
          unbuilt={trans.__('Build and time the variants first.')}
          context={context}
        />
      </header>
      <p className="jp-Compilescope-hint">
        {trans.__(
          'Who implements each, how the wrapper gets there, and how often a call of the wrapper takes the GIL for it.'
        )}
      </p>
      <ViewFrame
        state={state}
        trans={trans}
        show={(found: readonly IFound[]) =>
          found.length === 0 ? (
            <p className="jp-Compilescope-requestedGood">
              {trans.__(
                'None: all that the wrappers launch was generated for them.'
              )}
            </p>
          ) : (
            <RoutesTable found={found} context={context} />
          )
        }
      />
      {reasons.map(({ name, absent }) => (
        <p key={name} className="jp-Compilescope-hint">
          {name}: {absent.routes}
        </p>
      ))}
    </section>
  );
}

function RoutesTable(props: {
  found: readonly IFound[];
  context: IViewContext;
}): JSX.Element {
  const { trans } = props.context;
  return (
    <Wide label={trans.__('Ways to operators, in figures')}>
      <table className="jp-Compilescope-figures jp-mod-routes">
        <caption className="jp-Compilescope-hidden">
          {trans.__('Ways to operators without a generated kernel')}
        </caption>
        <thead>
          <tr>
            <th scope="col">{trans.__('Operator')}</th>
            <th scope="col">{trans.__('Variant')}</th>
            <th scope="col">{trans.__('implemented in')}</th>
            <th scope="col">{trans.__('way')}</th>
            <th
              scope="col"
              className="jp-mod-number"
              title={trans.__(
                'How often one call of the wrapper takes the GIL for it; counted in the code'
              )}
            >
              {trans.__('GIL')}
            </th>
            <th
              scope="col"
              className="jp-mod-number"
              title={trans.__(
                'What reaching it costs in one call of the wrapper, without its own work'
              )}
            >
              {trans.__('cost of the way')}
            </th>
            <th scope="col">{trans.__('lines')}</th>
            <th scope="col">{trans.__('why')}</th>
          </tr>
        </thead>
        <tbody>
          {props.found.map((each, index) => (
            <RouteRow key={index} {...each} context={props.context} />
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function RouteRow(props: IFound & { context: IViewContext }): JSX.Element {
  const { variant, compilation, route, context } = props;
  const { model, trans } = context;
  const { artifact, direction, interval_us: interval, where } = route;
  const open = (line: number) => {
    model.select({
      text: {
        variant,
        compilation,
        artifact: direction === 'backward' ? `backward.${artifact}` : artifact,
        line
      }
    });
    context.open('code');
  };
  return (
    <tr>
      <th scope="row">
        <code title={route.operator}>{route.operator}</code>
      </th>
      <td>
        {variant}
        <span className="jp-Compilescope-muted">
          {' '}
          {compilation}
          {direction === 'backward' && ` ${trans.__('backward')}`}
        </span>
      </td>
      <td>
        {registeredTitle(route.registered, trans)}{' '}
        {where && (
          <SourceLink where={where} context={context} origin={ORIGIN} />
        )}
      </td>
      <td>{viaTitle(route, trans)}</td>
      <td className="jp-mod-number">{route.gil}</td>
      <td className="jp-mod-number">
        {route.us === null ? (
          <Absent why={route.how || trans.__('Not measured')} />
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
      <td>
        {route.lines.slice(0, MOST_LINES).map(line => (
          <button
            key={line}
            type="button"
            className="jp-Compilescope-link jp-mod-code"
            title={trans.__('Show line %1 in the code', line)}
            onClick={() => open(line)}
          >
            {line}
          </button>
        ))}
        {route.lines.length > MOST_LINES && (
          <span className="jp-Compilescope-muted">
            {trans.__('%1 more', route.lines.length - MOST_LINES)}
          </span>
        )}
      </td>
      <td className="jp-Compilescope-routeWords">
        {route.why}
        {route.remedy && (
          <span className="jp-Compilescope-muted"> {route.remedy}</span>
        )}
      </td>
    </tr>
  );
}

const ORIGIN = {};

function registeredTitle(
  registered: Route['registered'],
  trans: TranslationBundle
): string {
  switch (registered) {
    case 'torch':
      return trans.__('torch');
    case 'cpp':
      return trans.__('C++');
    case 'python':
      return trans.__('Python');
    case 'triton':
      return trans.__('Triton, by you');
    default:
      return trans.__('not known here');
  }
}

function viaTitle(
  { via, artifact, registered }: Route,
  trans: TranslationBundle
): string {
  switch (via) {
    case 'library':
      return trans.__('ATen’s Python binding');
    case 'shim':
      return trans.__('C shim');
    case 'dispatcher':
      return registered === 'python'
        ? trans.__('dispatcher, into Python')
        : trans.__('dispatcher, in C++');
    case 'inlined':
      return trans.__('launched as generated');
    default:
      return artifact === 'cpp'
        ? trans.__('as a Python function')
        : trans.__('torch.ops, from Python');
  }
}

async function find(
  variants: readonly VariantReport[],
  { model }: IViewContext
): Promise<readonly IFound[]> {
  const found = await Promise.all(
    variants.flatMap(({ name, compilations }) =>
      compilations.slice(0, MOST_COMPILATIONS).map(async ({ id }) => {
        const one = await model.getCompilation(name, id, ['crossings']);
        return one.routes.map(route => ({
          variant: name,
          compilation: id,
          route
        }));
      })
    )
  );
  // What somebody wrote comes before what torch has.
  const rank = ({ route }: IFound) => Number(route.registered === 'torch');
  return found
    .flat()
    .sort(
      (a, b) =>
        rank(a) - rank(b) || a.route.operator.localeCompare(b.route.operator)
    );
}
