import * as React from 'react';
import { Chart } from '../../charts';
import { isOnlyForTargets } from '../../model/variants';
import type { Measurement, VariantReport } from '../../protocol/types';
import { Check } from '../common';
import type { IViewContext } from '../views';
import { AccuracyPart } from './accuracy';
import { BASELINE, Controls, whyNot } from './controls';
import { distributionHeight, distributionOf } from './distribution';
import { LayersPart } from './layers';
import { ratiosOf } from './ratios';
import { rowsOf } from './rows';
import type { ITimed } from './rows';
import { measurementStateOf } from './measurementState';
import { StartupsPart } from './startups';
import { Part, StudyPart } from '../common/study';
import { TimesTable } from './table';
import { Verdicts } from './verdict';
import { comparison } from '../../words/comparison';
import { ProblemCard } from '../common/states/problemCard';

/**
 * The minimum height of the plot of ratios, in pixels.
 */
const RATIO_HEIGHT = 200;

/**
 * The number of rounds from which on a ratio has an interval.
 */
const ROUNDS = 8;

/**
 * The latencies of calls, during and after the measurement.
 */
export function TimingsBody(props: {
  variants: readonly VariantReport[];
  measurement: Measurement | null;
  context: IViewContext;
  origin: object;

  /**
   * The requested section, by its name.
   */
  section: { readonly name: string } | null;
}): JSX.Element {
  const { variants, measurement, context, origin, section } = props;
  const { model, trans } = context;
  const [excluded, setExcluded] = React.useState<ReadonlySet<string>>(
    new Set()
  );
  const [seconds, setSeconds] = React.useState(10);
  const body = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const part = body.current?.querySelector(`.jp-mod-${section?.name}`);
    if (body.current && part) {
      body.current.scrollTop +=
        part.getBoundingClientRect().top -
        body.current.getBoundingClientRect().top;
    }
  }, [section]);
  const rows = React.useMemo(
    () => rowsOf(measurement, variants),
    [measurement, variants]
  );
  const state = measurementStateOf(model, rows, trans);
  const summaries = (model.report?.variants ?? []).filter(
    variant => !variant.recorded
  );
  const chosen = summaries.filter(
    summary => !whyNot(summary, trans) && !excluded.has(summary.name)
  );
  // A running measurement ends at its next round, and the new one continues it.
  const start = (restart: boolean) =>
    void model.startMeasure({
      variants: chosen.map(variant => variant.name),
      seconds,
      restart
    });
  // The shown job may be the one that generates the new variant's code.
  const isMeasured =
    state.isOn || (model.isLive && MEASURING.has(measurement?.state ?? 'none'));
  useNewVariants(
    chosen.map(variant => variant.name),
    isMeasured ? () => start(false) : null
  );
  const compiled = variants.filter(
    variant => variant.requested.backend !== null && !variant.recorded
  );
  const studied = compiled.filter(({ name }) => !excluded.has(name));
  // Calls that recompile end in eager: there is no time of compiled code.
  const always =
    compiled.length > 0 && compiled.every(({ timing }) => timing?.recompiles);
  const here = variants.filter(({ target }) => target === null);
  return (
    <>
      {model.isLive && (
        <Controls
          state={state}
          variants={summaries}
          excluded={excluded}
          onExclude={(name, isOut) => {
            const next = new Set(excluded);
            if (isOut) {
              next.add(name);
            } else {
              next.delete(name);
            }
            setExcluded(next);
          }}
          measured={measurement?.series.map(({ name }) => name) ?? []}
          seconds={seconds}
          onSeconds={setSeconds}
          onStart={start}
          onPause={() => void model.cancel()}
          trans={trans}
        />
      )}
      <div className="jp-Compilescope-parts" ref={body}>
        <div className="jp-Compilescope-statusLine">
          <span role="status">{state.text}</span>
          {state.count && (
            <span className="jp-Compilescope-muted">{state.count}</span>
          )}
          {state.isOn && (
            <progress
              aria-label={trans.__('Progress of the measurement')}
              value={state.fraction ?? undefined}
              max={1}
            />
          )}
        </div>
        {measurement?.problem && (
          <ProblemCard problem={measurement.problem} trans={trans} />
        )}
        <Times rows={rows} context={context} />
        <Verdicts variants={compiled} context={context} />
        {/* Nothing runs on a device that is not available. */}
        {!isOnlyForTargets(summaries) && (
          <>
            <StudyPart
              study="layers"
              title={trans.__('Where one call’s time goes')}
              label={trans.__('Break down the time')}
              variants={studied.filter(({ timing }) => !timing?.recompiles)}
              isPossible={!always}
              isEmpty={here.every(
                ({ layers, absent }) => layers.length === 0 && !absent.layers
              )}
              context={context}
            >
              <LayersPart variants={here} trans={trans} />
            </StudyPart>
            <StudyPart
              study="startups"
              title={trans.__('Cold and warm start')}
              label={trans.__('Measure first calls')}
              variants={studied}
              isEmpty={here.every(
                ({ startups, absent }) =>
                  startups.length === 0 && !absent.startups
              )}
              context={context}
            >
              <StartupsPart variants={here} trans={trans} />
            </StudyPart>
            <StudyPart
              study="accuracy"
              title={trans.__('Accuracy')}
              label={trans.__('Check in higher precision')}
              variants={studied}
              isEmpty={here.every(({ accuracy }) => accuracy.length === 0)}
              context={context}
            >
              <AccuracyPart variants={here} context={context} origin={origin} />
            </StudyPart>
          </>
        )}
      </div>
    </>
  );
}

/** The states of a measurement that takes samples, or is about to. */
const MEASURING: ReadonlySet<Measurement['state']> = new Set([
  'building',
  'warming',
  'running'
] as const);

/**
 * Adds variants that appear during a measurement to it, each once: one that
 * cannot be built is not tried again.
 *
 * @param join - Starts a measurement of all requested variants; null while
 * nothing is measured.
 */
function useNewVariants(
  names: readonly string[],
  join: (() => void) | null
): void {
  const known = React.useRef<ReadonlySet<string>>(new Set(names));
  React.useEffect(() => {
    const isNew = names.some(name => !known.current.has(name));
    known.current = new Set([...known.current, ...names]);
    if (isNew) {
      join?.();
    }
  }, [names.join('\n')]);
}

/**
 * The plots, and the table with the same content.
 */
function Times(props: {
  rows: readonly ITimed[];
  context: IViewContext;
}): JSX.Element {
  const { rows, context } = props;
  const { model, trans } = context;
  const [isLog, setLog] = React.useState<boolean | null>(null);
  const sampled = rows.filter(row => row.samples.length > 0);
  const distribution = React.useMemo(
    () => distributionOf(sampled, isLog, trans),
    [rows, isLog]
  );
  const baseline = rows.find(row => row.isBaseline && row.isInTurns);
  const ratios = React.useMemo(() => {
    const lines = sampled.filter(
      row => baseline && row.isInTurns && row.running.length > 0
    );
    return {
      isEmpty: lines.length === 0,
      make: ratiosOf(lines, baseline?.name ?? BASELINE, trans)
    };
  }, [rows]);
  if (rows.every(row => row.median === null)) {
    return (
      <p className="jp-Compilescope-hint jp-mod-first">
        {isOnlyForTargets(model.report?.variants ?? [])
          ? trans.__(
              'Every variant is for a device that is not here: there is nothing to measure.'
            )
          : model.isLive
            ? trans.__(
                'Start builds missing variants, warms them up and times them interleaved with eager: A B C, then C A B. Pause at any time; measurements are kept.'
              )
            : trans.__('This report has no measurements.')}
      </p>
    );
  }
  const announcement = rows
    .filter(row => row.median !== null)
    .map(row => `${row.name}: ${comparison(row, trans)}`)
    .join('; ');
  const height = distributionHeight(sampled.length);
  return (
    <>
      {sampled.length > 0 && (
        <div className="jp-Compilescope-plots">
          <Part
            name="distribution"
            title={trans.__('Latency per call')}
            action={
              <Check
                label={trans.__('Log scale')}
                isOn={distribution.isLog}
                title={trans.__(
                  'Set automatically if times are far apart, unless you choose'
                )}
                onChange={setLog}
              />
            }
          >
            <Chart
              make={distribution.make}
              isLive
              height={height}
              label={trans.__(
                'Distribution of times by variant, in the table below. %1',
                announcement
              )}
            />
          </Part>
          <Part name="ratios" title={trans.__('Speedup by round')}>
            {ratios.isEmpty ? (
              <p className="jp-Compilescope-hint">
                {model.isLive ||
                sampled.every(({ samples }) => samples.length < ROUNDS)
                  ? trans.__('Shown from the eighth round on.')
                  : trans.__('This report has no speedup by round.')}
              </p>
            ) : (
              <Chart
                make={ratios.make}
                isLive
                height={Math.max(RATIO_HEIGHT, height)}
                label={trans.__(
                  'Running ratio to %1 with its interval, in the table below. %2',
                  baseline?.name ?? BASELINE,
                  announcement
                )}
              />
            )}
          </Part>
        </div>
      )}
      <TimesTable rows={rows} trans={trans} />
    </>
  );
}
