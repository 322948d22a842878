import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { isKernelBusy } from '../../model/jobs';
import type { Overview, Result, TargetResult } from '../../protocol/types';
import { formatMicroseconds, hasName } from '../../words/format';
import { TABLES } from '../../words/tables';
import { Prose } from '../common/prose';
import { SpeedupText } from '../common/speedup';
import { DeclaredCells, declaredHeads } from '../common/tables/declared';
import { TableHead } from '../common/tables/figures';
import type { IViewContext } from '../views';
import { BuildButton } from './build';
import { ViewLink } from '../common/viewLink';

/**
 * How long variants are measured, in seconds.
 */
const SECONDS = 10;

/**
 * The variants with their latencies, as a table with bars. Estimates for a
 * device that is not available are separate.
 */
export function Results(props: {
  overview: Overview;
  context: IViewContext;
}): JSX.Element | null {
  const { overview, context } = props;
  const { results, targets } = overview;
  const { trans } = context;
  if (results.length === 0 && targets.length === 0) {
    return null;
  }
  const isTimed = results.some(result => result.latency_us !== null);
  const isStarted = results.some(result => result.first_call_s !== null);
  const isChecked = results.some(result => result.accurate !== null);
  return (
    <section
      className="jp-Compilescope-results"
      aria-label={trans.__('Results')}
    >
      {results.length > 0 && (
        <div className="jp-Compilescope-resultsTable">
          <table aria-label={trans.__('Results by variant')}>
            <TableHead
              heads={declaredHeads('results', trans, {
                latency: isTimed ? {} : { label: '' },
                bar: isTimed && {
                  spoken: undefined,
                  label: overview.axis,
                  className: 'jp-mod-chart'
                },
                speedup: isTimed && {},
                first_call: isStarted && {},
                accuracy: isChecked && {}
              })}
            />
            <tbody>
              {results.map(result => (
                <Row
                  key={result.variant}
                  result={result}
                  scale={overview.scale_us}
                  columns={{ isTimed, isStarted, isChecked }}
                  context={context}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {overview.scope && (
        <p className="jp-Compilescope-muted">{overview.scope}</p>
      )}
      {overview.load && (
        <p className="jp-Compilescope-notice jp-mod-warning">
          <Prose text={overview.load} />
        </p>
      )}
      {targets.length > 0 && <Targets targets={targets} context={context} />}
      <Measure overview={overview} context={context} />
    </section>
  );
}

function Row(props: {
  result: Result;
  scale: number;
  columns: { isTimed: boolean; isStarted: boolean; isChecked: boolean };
  context: IViewContext;
}): JSX.Element {
  const { result, scale, columns, context } = props;
  const { trans } = context;
  const { latency_us: latency } = result;
  const titles = TABLES.results(trans);
  const classes = [
    result.best ? 'jp-mod-best' : '',
    result.noisy ? 'jp-mod-noisy' : '',
    result.speedup === null && result.state === 'measured'
      ? 'jp-mod-baseline'
      : ''
  ];
  return (
    <tr className={classes.filter(Boolean).join(' ')}>
      <DeclaredCells
        table="results"
        trans={trans}
        cells={{
          variant: (
            <th scope="row" title={result.same_code || undefined}>
              <VariantName
                name={result.variant}
                title={result.title}
                context={context}
              />
            </th>
          ),
          latency:
            latency === null ? (
              <td
                colSpan={columns.isTimed ? 3 : 1}
                className="jp-Compilescope-muted jp-mod-why"
                title={result.why}
              >
                {stateOf(result, trans)}
              </td>
            ) : (
              <td className="jp-mod-number" data-title={titles.latency.title}>
                <ViewLink view="timings" isPlain context={context}>
                  {result.latency || formatMicroseconds(latency)}
                </ViewLink>
                {result.few && (
                  <small>
                    {result.noisy ? result.interval_title : result.interval}
                  </small>
                )}
              </td>
            ),
          bar: latency !== null && (
            <td className="jp-mod-chart" title={result.interval}>
              <Bar
                latency={latency}
                interval={
                  result.few && !result.noisy ? null : result.interval_us
                }
                isNoisy={result.noisy}
                scale={scale}
              />
            </td>
          ),
          speedup: latency !== null && (
            <td data-title={titles.speedup.title}>
              {result.speedup && (
                <ViewLink view="timings" isPlain context={context}>
                  <SpeedupText speedup={result.speedup} trans={trans} />
                </ViewLink>
              )}
            </td>
          ),
          first_call: columns.isStarted && (
            <td className="jp-mod-number" data-title={titles.first_call.title}>
              {result.first_call_s !== null && (
                <ViewLink
                  view="compile-time"
                  of={result.variant}
                  isPlain
                  context={context}
                >
                  {result.first_call ||
                    formatMicroseconds(result.first_call_s * 1e6)}
                </ViewLink>
              )}
            </td>
          ),
          accuracy: columns.isChecked && (
            <td data-title={titles.accuracy.title}>
              {result.accurate !== null && (
                <Accuracy isRight={result.accurate} context={context} />
              )}
            </td>
          )
        }}
      />
    </tr>
  );
}

/**
 * Why a variant has no latency. If all failed alike, the Overview says why
 * above.
 */
function stateOf({ state, why }: Result, trans: TranslationBundle): string {
  if (state !== 'failed') {
    return why;
  }
  return why ? trans.__('failed: %1', why) : trans.__('failed');
}

function Accuracy(props: {
  isRight: boolean;
  context: IViewContext;
}): JSX.Element {
  const { isRight, context } = props;
  const { trans } = context;
  const { words } = TABLES.results(trans).accuracy;
  return (
    <ViewLink view="accuracy" isPlain context={context}>
      <span
        className={isRight ? 'jp-mod-ok' : 'jp-mod-bad'}
        title={
          isRight
            ? trans.__('Same result as eager')
            : trans.__('Differs from eager by more than the tolerance')
        }
      >
        {isRight ? words.right : words.wrong}
      </span>
    </ViewLink>
  );
}

/**
 * A bar up to the median with its interval, or only the interval if it replaces
 * the median.
 */
function Bar(props: {
  latency: number;
  interval: [number, number] | null;
  isNoisy: boolean;
  scale: number;
}): JSX.Element {
  const { latency, interval, isNoisy, scale } = props;
  const part = (us: number) =>
    scale > 0 ? 100 * Math.min(Math.max(us / scale, 0), 1) : 0;
  const placeOf = ([start, end]: [number, number]) => ({
    left: `${part(start)}%`,
    width: `${part(end) - part(start)}%`
  });
  return (
    <span className="jp-Compilescope-latency" aria-hidden="true">
      {isNoisy && interval ? (
        <span style={placeOf(interval)} />
      ) : (
        <>
          <span style={placeOf([0, latency])} />
          {interval && <i style={placeOf(interval)} />}
        </>
      )}
    </span>
  );
}

function Targets(props: {
  targets: readonly TargetResult[];
  context: IViewContext;
}): JSX.Element {
  const { targets, context } = props;
  const { trans } = context;
  return (
    <div className="jp-Compilescope-estimates">
      <h3>{trans.__('Estimated for other devices')}</h3>
      <ul>
        {targets.map(target => (
          <li key={target.variant}>
            <span>
              <VariantName
                name={target.variant}
                title={target.title}
                context={context}
              />
            </span>{' '}
            <ViewLink view="targets" isPlain context={context}>
              {target.text}
            </ViewLink>
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * The variant's description in sentences, followed by its name, as in pickers,
 * tables and code.
 */
function VariantName(props: {
  name: string;
  title: string;
  context: IViewContext;
}): JSX.Element {
  const { name, title, context } = props;
  const { model, trans } = context;
  const isCompiled = model.report?.variants.some(
    variant => variant.name === name && variant.requested.backend !== null
  );
  const label = isCompiled ? (
    <button
      type="button"
      className="jp-Compilescope-link"
      title={trans.__('Show the code of %1', title)}
      onClick={() => {
        model.showVariant(name);
        context.open('code');
      }}
    >
      {title}
    </button>
  ) : (
    <span>{title}</span>
  );
  // `cpp dynamic on h100 (H100 SXM)` contains the name.
  return hasName(title, name) ? (
    label
  ) : (
    <>
      {label} <code className="jp-Compilescope-variantName">{name}</code>
    </>
  );
}

/**
 * Measures what was not measured, or measures longer what was too noisy.
 */
function Measure(props: {
  overview: Overview;
  context: IViewContext;
}): JSX.Element | null {
  const { overview, context } = props;
  const { results, longer, longer_s } = overview;
  const { model, trans } = context;
  if (!model.isLive) {
    return longer && !context.runAgain ? (
      <p className="jp-Compilescope-muted">
        <Prose text={longer} />
      </p>
    ) : null;
  }
  // The strip above all views shows what a job is doing.
  if (isKernelBusy(model.job)) {
    return null;
  }
  const able = results.filter(
    result => result.state !== 'failed' && result.variant !== 'eager'
  );
  const isTimed = able.some(result => result.state === 'measured');
  if (able.length > 0 && !isTimed) {
    return <BuildButton context={context} />;
  }
  const isOpen =
    longer_s > 0 || able.some(({ state }) => state === 'unmeasured');
  const seconds = longer_s || SECONDS;
  return isOpen && model.status.kind === 'ready' ? (
    <p className="jp-Compilescope-measure">
      <button
        type="button"
        className="jp-Compilescope-button"
        title={trans.__(
          'Build missing variants and time them, interleaved with eager'
        )}
        onClick={() =>
          void model.startMeasure({
            variants: able.map(result => result.variant),
            seconds
          })
        }
      >
        {trans.__('Measure for %1 s', seconds)}
      </button>
    </p>
  ) : null;
}
