import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Chart } from '../../charts';
import { isEnded } from '../../model/sweep';
import type { Sweep, VariantReport } from '../../protocol/types';
import type { ISubjectModel } from '../../interfaces/subject';
import type { Sort } from '../common';
import { sorted, VirtualTable } from '../common';
import { useRunOn } from '../common/runOn';
import { Part } from '../common/study';
import type { IViewContext } from '../views';
import { columnsOf } from './columns';
import { DeployPart } from './deploy/part';
import { Details } from './details';
import { SweepForm } from './form';
import { isPlotted, paretoOf } from './pareto';
import { durationOf, firstForm, planOf } from './plan';
import type { IRow } from './rows';
import { rowsOf, winnersOf } from './rows';
import { Winner } from './winner';
import { nameOf as argumentName } from '../../words/arguments';
import { ProblemCard } from '../common/states/problemCard';

/**
 * The height of the plot, in pixels.
 */
const PLOT = 280;

/**
 * The maximum number of rows that the table shows without scrolling, with half
 * of a row to hint at more, and the heights of a row and of the header, in
 * pixels.
 */
const MAX_ROWS = 14.5;
const ROW = 24;
const HEAD = 30;

/**
 * The form, the current results of the sweep, and the ways to deploy.
 *
 * @param props.deployed - The variants whose ways to deploy were compared.
 */
export function SweepBody(props: {
  deployed: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element {
  const { deployed, context } = props;
  const { model, trans } = context;
  const { sweep, report } = model;
  const [form, setForm] = React.useState(() => firstForm(model.choices.modes));
  const runOn = useRunOn(model.choices.executors);
  const [isTried, setTried] = React.useState(false);
  // Until the user opens or closes it: open if there is nothing else to show.
  const [wish, setWish] = React.useState<boolean | null>(null);
  const rows = React.useMemo(() => (sweep ? rowsOf(sweep) : []), [sweep]);
  const plan = planOf(form, trans);
  const isOn = sweep !== null && !isEnded(sweep);
  const isFormOpen = wish ?? (sweep === null && deployed.length === 0);
  const variants = report?.variants ?? [];
  const subject = report?.subject;
  return (
    <>
      {model.isLive && (
        <SweepForm
          form={form}
          onChange={setForm}
          runOn={runOn}
          plan={plan}
          duration={durationOf(plan.cells, form.seconds, sweep, variants)}
          modes={model.choices.modes}
          name={subject?.name ?? ''}
          parameters={(subject?.arguments ?? [])
            .map(argumentName)
            .filter(Boolean)}
          call={subject?.arguments ?? []}
          obstacle={obstacleOf(model, trans)}
          isOn={isOn}
          isOpen={isFormOpen}
          onOpen={setWish}
          onStart={() => {
            setTried(true);
            setWish(null);
            void model.startSweep({
              variants: plan.variants,
              shapes: plan.shapes,
              timeout: form.timeout,
              seconds: form.seconds,
              resume: form.resume,
              executor: runOn.executor
            });
          }}
          onCancel={() => void model.cancelSweep()}
          trans={trans}
        />
      )}
      <div className="jp-Compilescope-parts">
        {isTried && model.problem && (
          <ProblemCard problem={model.problem} trans={trans} />
        )}
        {sweep ? (
          <div className="jp-Compilescope-statusLine">
            <span role="status">
              {sweep.status ||
                (sweep.state === 'cancelled' && trans.__('Canceled'))}
            </span>
            {sweep.status_detail && (
              <span className="jp-Compilescope-muted">
                {sweep.status_detail}
              </span>
            )}
            {isOn && (
              <progress
                aria-label={trans.__('Progress of the sweep')}
                value={sweep.fraction}
                max={1}
              />
            )}
          </div>
        ) : (
          model.isLive &&
          isFormOpen && (
            <p className="jp-Compilescope-hint jp-mod-first">
              {trans.__(
                'Each cell is one variant with one set of arguments, compiled and timed interleaved with eager, in a new process with empty caches. The kernel is not blocked. A cell that crashes, times out or runs out of memory is reported as such.'
              )}
            </p>
          )
        )}
        {sweep?.problems.map((problem, index) => (
          <ProblemCard key={index} problem={problem} trans={trans} />
        ))}
        {sweep && <Cells sweep={sweep} rows={rows} context={context} />}
        {(model.isLive || deployed.length > 0) && (
          <DeployPart variants={deployed} runOn={runOn} context={context} />
        )}
      </div>
    </>
  );
}

/**
 * The results of the cells: the winner, the plot, the table, the selected cell.
 */
function Cells(props: {
  sweep: Sweep;
  rows: readonly IRow[];
  context: IViewContext;
}): JSX.Element {
  const { sweep, rows, context } = props;
  const { trans } = context;
  const [sort, setSort] = React.useState<Sort>(null);
  const [chosen, setChosen] = React.useState<string | null>(null);
  const table = React.useRef<HTMLDivElement>(null);
  const columns = columnsOf(sweep, trans);
  const shown = React.useMemo(() => sorted(rows, columns, sort), [rows, sort]);
  const selected = rows.find(({ id }) => id === chosen) ?? null;
  const make = React.useMemo(
    () => paretoOf(rows, chosen, trans),
    [rows, chosen]
  );
  const announcement = winnersOf(sweep, rows)
    .map(({ cell }) => sweep.verdicts[cell.shape] ?? '')
    .join(' ');
  return (
    <>
      <div className="jp-Compilescope-sweepResult">
        <Part name="winner" title={trans.__('Result')}>
          <Winner sweep={sweep} rows={rows} context={context} />
        </Part>
        {rows.some(isPlotted) && (
          <Part name="pareto" title={trans.__('First call against latency')}>
            <Chart
              make={make}
              height={PLOT}
              label={trans.__(
                'First call against latency, in the table below. %1',
                announcement
              )}
              onClick={id => {
                setChosen(String(id));
                table.current?.scrollIntoView({ block: 'nearest' });
              }}
            />
            <p className="jp-Compilescope-hint">
              {trans.__(
                'The line joins the Pareto-optimal cells. ★ lowest median, ○ dominated, × wrong result.'
              )}
            </p>
          </Part>
        )}
      </div>
      <div
        ref={table}
        className="jp-Compilescope-sweepTable"
        style={{ height: HEAD + ROW * Math.min(MAX_ROWS, rows.length) }}
      >
        <VirtualTable<IRow>
          label={trans.__('Cells')}
          columns={columns}
          rows={shown}
          keyOf={({ id }) => id}
          sort={sort}
          onSort={setSort}
          selected={chosen}
          onSelect={({ id }) => setChosen(id === chosen ? null : id)}
          trans={trans}
        />
      </div>
      {selected ? (
        <Details
          key={selected.id}
          row={selected}
          unit={sweep.unit}
          context={context}
          onClose={() => setChosen(null)}
        />
      ) : (
        <p className="jp-Compilescope-hint">
          {trans.__(
            'Select a row for its details: errors, first call, settings not applied as requested.'
          )}
        </p>
      )}
    </>
  );
}

function obstacleOf(
  { status, report }: ISubjectModel,
  trans: TranslationBundle
): string {
  if (status.kind !== 'ready') {
    return trans.__('No kernel is connected.');
  }
  return report ? '' : trans.__('Nothing is inspected yet.');
}
