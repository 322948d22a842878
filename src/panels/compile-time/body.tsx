import { downloadIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { download } from '../../download';
import type { Compilation, VariantReport } from '../../protocol/types';
import { Check, Select } from '../common';
import { IconButton } from '../common/button';
import type { IViewContext } from '../views';
import { Caches } from './caches';
import { Chart } from './timeline/waterfall';
import { ColdPart } from './cold/part';
import { exportTrace } from './export';
import type { Align, IPlace, Run } from './timeline/lanes';
import { areFarApart, haveSameLanes, waterfall } from './timeline/lanes';
import { kernelPhases } from './timeline/loadPhases';
import { LoadsPart } from './loads';
import { Notes } from './notes';
import { Outline } from './timeline/outline';
import { figuresOf } from './phrases';
import { runTimes } from './kindTimes';
import { Shares } from './phaseBars';
import { Figures } from './timeline/tip';
import type { IWindow } from './timeline/viewport';
import { zoom } from './timeline/viewport';

/**
 * What the view shows.
 */
export interface ICompileTime {
  readonly variant: VariantReport;

  /**
   * Compilations with their phases.
   */
  readonly compilations: readonly Compilation[];

  /**
   * The number of further compilations.
   */
  readonly omitted: number;
}

/**
 * Where the compile time of a variant went.
 *
 * @param props.compilation - The id of the compilation selected in all views.
 */
export function CompileTimeBody(props: {
  data: ICompileTime;
  compilation: string;
  context: IViewContext;
}): JSX.Element {
  const { data, compilation, context } = props;
  const { trans } = context;
  const [isAll, setAll] = React.useState(data.compilations.length <= 20);
  const [run, setRun] = React.useState<Run | 'both'>('both');
  const [align, setAlign] = React.useState<Align | null>(null);
  const [isTable, setTable] = React.useState(false);
  const [place, setPlace] = React.useState<IPlace | null>(null);
  const shown = React.useMemo(
    () =>
      isAll
        ? data.compilations
        : data.compilations.filter(({ id }) => id === compilation),
    [data, isAll, compilation]
  );
  const { recorded: isRecorded } = data.variant;
  const runs = React.useMemo(
    () =>
      (run === 'both' ? runsOf(isRecorded) : [run]).filter(option =>
        shown.some(compilation =>
          option === 'warm'
            ? compilation.warm_phases.length
            : compilation.phases.length
        )
      ),
    [shown, run, isRecorded]
  );
  const by = align ?? (areFarApart(shown) ? 'start' : 'time');
  const chart = React.useMemo(
    () => waterfall(shown, runs, by, kernelPhases(data.variant.kernel_loads)),
    [shown, runs, by, data]
  );
  const { total } = chart;
  const [window, setWindow] = React.useState<IWindow>({ start: 0, end: total });
  const [known, setKnown] = React.useState(chart);
  if (chart !== known) {
    setKnown(chart);
    if (!haveSameLanes(known, chart)) {
      // Another chart starts with its full range.
      setWindow({ start: 0, end: total });
      setPlace(null);
    }
  }
  const times = runs.map(name => runTimes(name, data.variant, shown, isAll));
  const figures = figuresOf(chart, place, trans);
  const middle = (window.start + window.end) / 2;
  const zoomBy = (factor: number) => () =>
    setWindow(zoom(window, factor, middle, total));
  return (
    <>
      <div
        className="jp-Compilescope-controls"
        role="toolbar"
        aria-label={trans.__('Which compile times are shown')}
      >
        {data.compilations.length > 1 && (
          <Select
            label={trans.__('Show')}
            value={isAll ? 'all' : 'one'}
            options={[
              { value: 'all', label: trans.__('all compilations') },
              { value: 'one', label: trans.__('%1 only', compilation) }
            ]}
            onChange={value => setAll(value === 'all')}
          />
        )}
        {data.compilations.some(
          ({ warm_phases }) => warm_phases.length > 0
        ) && (
          <Select
            label={trans.__('Caches')}
            value={run}
            options={[
              { value: 'both', label: trans.__('cold and warm') },
              { value: 'cold', label: trans.__('cold') },
              { value: 'warm', label: trans.__('warm') }
            ]}
            onChange={value => setRun(value as Run | 'both')}
          />
        )}
        {shown.length > 1 && (
          <Check
            label={trans.__('Align at 0')}
            isOn={by === 'start'}
            title={trans.__(
              'Start each compilation at 0 instead of when it happened'
            )}
            onChange={on => setAlign(on ? 'start' : 'time')}
          />
        )}
        <Check
          label={trans.__('As a table')}
          isOn={isTable}
          onChange={setTable}
        />
        <span className="jp-Compilescope-timeTools">
          {!isTable && (
            <>
              <button
                type="button"
                className="jp-Compilescope-iconButton"
                title={trans.__('Zoom in')}
                aria-label={trans.__('Zoom in')}
                onClick={zoomBy(0.5)}
              >
                <span aria-hidden="true">+</span>
              </button>
              <button
                type="button"
                className="jp-Compilescope-iconButton"
                title={trans.__('Zoom out')}
                aria-label={trans.__('Zoom out')}
                onClick={zoomBy(2)}
              >
                <span aria-hidden="true">−</span>
              </button>
              <button
                type="button"
                className="jp-Compilescope-button"
                onClick={() => setWindow({ start: 0, end: total })}
              >
                {trans.__('Fit')}
              </button>
            </>
          )}
          <IconButton
            icon={downloadIcon}
            label={trans.__('Save as a Chrome trace, for Perfetto')}
            disabled={chart.lanes.length === 0}
            onClick={() => {
              const { filename, text } = exportTrace(
                data.variant,
                shown,
                context
              );
              download(filename, text);
            }}
          />
        </span>
      </div>
      <div className="jp-Compilescope-timeBody">
        <Notes variant={data.variant} runs={times} context={context} />
        {data.omitted > 0 && (
          <p className="jp-Compilescope-hint">
            {trans.__(
              'Showing the %1 longest compilations; pick one of %2 others above.',
              data.compilations.length,
              data.omitted
            )}
          </p>
        )}
        {shown.length === 0 && data.omitted > 0 ? (
          <p className="jp-Compilescope-hint">{trans.__('Loading…')}</p>
        ) : chart.lanes.length === 0 ? (
          <p className="jp-Compilescope-hint">
            {shown[0]?.absent.phases ??
              trans.__('torch logged no phases for this compilation.')}
          </p>
        ) : isTable ? (
          <Outline
            chart={chart}
            place={place}
            onPlace={setPlace}
            trans={trans}
          />
        ) : (
          <>
            <Chart
              chart={chart}
              window={window}
              onWindow={setWindow}
              place={place}
              onPlace={setPlace}
              trans={trans}
            />
            <div className="jp-Compilescope-timeFigures">
              {figures ? (
                <Figures figures={figures} />
              ) : (
                <p className="jp-Compilescope-hint">
                  {trans.__(
                    'Ctrl+wheel: zoom. Drag: pan. Arrow keys: select a phase. + and −: zoom. Enter: fit the phase. 0: fit all.'
                  )}
                </p>
              )}
            </div>
          </>
        )}
        <div className="jp-Compilescope-timeTables">
          {times.some(({ kinds }) => kinds.length > 0) && (
            <section>
              <h3>{trans.__('By kind of phase')}</h3>
              <Shares runs={times} trans={trans} />
            </section>
          )}
          <section>
            <h3>{trans.__('Caches')}</h3>
            <Caches
              compilations={shown}
              runs={runsOf(isRecorded)}
              trans={trans}
            />
          </section>
        </div>
        <LoadsPart variant={data.variant} trans={trans} />
        <ColdPart variant={data.variant} context={context} />
      </div>
    </>
  );
}

/**
 * Code compiled by its own calls met the caches in whatever state they were.
 */
function runsOf(isRecorded: boolean): readonly Run[] {
  return isRecorded ? ['recorded'] : ['cold', 'warm'];
}
