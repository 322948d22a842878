import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { wrapperName } from '../../model/wrappers';
import type {
  CompilationSummary,
  Decision,
  Kernel,
  Launch
} from '../../protocol/types';
import type { Sort } from '../common';
import { filled, SearchField, Select, sorted, VirtualTable } from '../common';
import {
  formatBytes,
  formatCount,
  formatMicroseconds,
  formatQuantity
} from '../../words/format';
import { StudyButton } from '../common/study';
import type { IViewContext } from '../views';
import { columnsOf } from './columns';
import { Details } from './details';
import { Estimate } from '../common/estimate';
import { languageTitle } from './phrases';
import { directionTitle } from '../../words/directions';
import { TargetButtons } from './targetButtons';
import type { IFilter, IRow } from './rows';
import {
  artifactOf,
  filtered,
  launchesByDirection,
  rowsOf,
  totalsOf
} from './rows';

/**
 * The kernels of a compilation: a table, and what is known of the selected one.
 *
 * @param props.origin - The view, to tell its own selections apart.
 */
export function KernelsBody(props: {
  kernels: readonly Kernel[];
  variant: string;
  compilation: string;
  decisions: readonly Decision[];

  /**
   * Why the launches could not be timed; empty if they could, or timing was not requested.
   */
  whyUntimed?: string;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { kernels, variant, compilation, context, origin } = props;
  const { model, trans } = context;
  const [filter, setFilter] = React.useState<IFilter>(EVERYTHING);
  const [sort, setSort] = React.useState<Sort>(null);
  const [chosen, setChosen] = React.useState<string | null>(null);
  const files = model.report?.files;
  const rows = React.useMemo(
    () => rowsOf(kernels, variant, files ?? {}),
    [kernels, variant, files]
  );
  const open = (row: IRow, position: IOpened, launch?: Launch) => {
    setChosen(row.id);
    model.select({
      kernel: row.kernel.name,
      key: launch?.key || null,
      text: { variant, compilation, line: null, ...position },
      origin
    });
    context.open('code');
  };
  const onLaunch = (row: IRow, launch: Launch) =>
    open(
      row,
      {
        variant: launch.variant,
        artifact: wrapperName(row.kernel.direction, launch.artifact),
        line: launch.line
      },
      launch
    );
  const isTimed = rows.some(({ kernel }) => kernel.time !== null);
  const isTraining = rows.some(
    ({ kernel }) => kernel.direction !== 'inference'
  );
  const summary = model.report?.variants.find(({ name }) => name === variant);
  const target = summary?.target?.title ?? null;
  const conflict = model.report?.overview?.conflicts.find(
    entry => entry.variant === variant
  );
  const columns = filled(
    columnsOf(context, {
      origin,
      isTimed,
      isTraining,
      target,
      latencyUs: conflict?.latency_us ?? null,
      onLaunch
    }),
    rows
  );
  const shown = React.useMemo(
    () => sorted(filtered(rows, filter), columns, sort),
    [rows, filter, sort]
  );
  const isLinked = ({ kernel }: IRow) => model.linked.kernels.has(kernel.name);
  const selected = selectedOf(rows, chosen, model.selection.kernel, isLinked);
  const totals = React.useMemo(() => totalsOf(shown), [shown]);
  const byDirection = React.useMemo(() => launchesByDirection(shown), [shown]);
  return (
    <>
      <div
        className="jp-Compilescope-controls"
        role="toolbar"
        aria-label={trans.__('Which kernels are shown')}
      >
        <SearchField
          label={trans.__('Filter by name, operator or source')}
          value={filter.text}
          onChange={text => setFilter({ ...filter, text })}
        />
        <Choice
          label={trans.__('Language')}
          of={kernels.map(({ language }) => language)}
          title={language => languageTitle(language, trans)}
          any={trans.__('all')}
          value={filter.language}
          onChange={language => setFilter({ ...filter, language })}
        />
        <Choice
          label={trans.__('Direction')}
          of={kernels.map(({ direction }) => direction)}
          title={direction => directionTitle(direction, trans)}
          any={trans.__('all')}
          value={filter.direction}
          onChange={direction => setFilter({ ...filter, direction })}
        />
        <span className="jp-Compilescope-kernelTotals" role="status">
          {scopeOf(compilation, summary?.compilations ?? [], trans)}
          {shown.length === rows.length
            ? trans._n(
                '%2 kernel',
                '%2 kernels',
                rows.length,
                formatCount(rows.length)
              )
            : trans.__(
                '%1 of %2 kernels',
                formatCount(shown.length),
                formatCount(rows.length)
              )}
          {', '}
          {trans._n(
            '%2 launch',
            '%2 launches',
            totals.launches,
            formatCount(totals.launches)
          )}
          {byDirection.size > 1 && (
            <span className="jp-Compilescope-muted">
              {` (${[...byDirection]
                .map(
                  ([direction, launches]) =>
                    `${formatCount(launches)} ${directionTitle(direction, trans)}`
                )
                .join(', ')})`}
            </span>
          )}
          {totals.us !== null && (
            <>
              {', '}
              <strong
                title={trans.__(
                  'Measured: the time of one call’s launches on their device'
                )}
              >
                {formatMicroseconds(totals.us)}
              </strong>
              {totals.untimed > 0 && (
                <span className="jp-Compilescope-muted">
                  {' '}
                  {trans.__('(%1 not measured)', totals.untimed)}
                </span>
              )}
            </>
          )}
          {totals.least !== null && (
            <>
              {', '}
              <Estimate
                value={totals.least}
                exact={formatMicroseconds}
                isLeast
                format={formatMicroseconds}
                of={trans.__(
                  'Lower bound for all launches of one call on %1',
                  target ?? ''
                )}
                why=""
                trans={trans}
              />
            </>
          )}
          {totals.bytes !== null && (
            <>
              {', '}
              <Estimate
                value={totals.bytes}
                format={formatBytes}
                why=""
                trans={trans}
              />
            </>
          )}
          {totals.operations !== null && (
            <>
              {', '}
              <Estimate
                value={totals.operations}
                format={formatQuantity}
                why=""
                trans={trans}
              />{' '}
              {trans.__('operations')}
            </>
          )}
          {totals.unknown > 0 && totals.bytes !== null && (
            <span className="jp-Compilescope-muted">
              {' '}
              {trans.__('(%1 without an estimate)', totals.unknown)}
            </span>
          )}
        </span>
        {summary && target !== null && (
          <TargetButtons variant={summary} title={target} context={context} />
        )}
        {summary && target === null && (
          <StudyButton
            study="kernels"
            label={
              isTimed ? trans.__('Measure again') : trans.__('Measure kernels')
            }
            variants={[summary]}
            unbuilt={trans.__('Build and time it first.')}
            context={context}
          />
        )}
      </div>
      {conflict && (
        <p className="jp-Compilescope-notice jp-mod-warning" role="alert">
          {conflict.text}
        </p>
      )}
      {props.whyUntimed && (
        <p className="jp-Compilescope-hint jp-Compilescope-kernelsWhy">
          {trans.__('Not measured: %1', props.whyUntimed)}
        </p>
      )}
      <div className="jp-Compilescope-kernelsBody">
        <VirtualTable<IRow>
          label={trans.__('Kernels')}
          columns={columns}
          rows={shown}
          all={rows}
          keyOf={({ id }) => id}
          sort={sort}
          onSort={setSort}
          selected={selected?.id ?? null}
          onSelect={row => {
            setChosen(row.id);
            model.select({ kernel: row.kernel.name, origin });
          }}
          isMarked={isLinked}
          none={trans.__('No kernel matches the filter.')}
          trans={trans}
        />
        {selected && (
          <Details
            key={selected.id}
            row={selected}
            context={context}
            origin={origin}
            onSource={
              hasSource(selected.kernel, variant, compilation, context)
                ? () =>
                    open(selected, { artifact: artifactOf(selected.kernel) })
                : null
            }
            onLaunch={launch => onLaunch(selected, launch)}
            target={target}
            decisions={decisionsFor(selected.kernel, props.decisions)}
            onForm={(form, config) => {
              const beside = artifactOf(selected.kernel);
              const artifact = `${beside}.${form}${config && `@${config}`}`;
              open(selected, { artifact, beside });
            }}
          />
        )}
      </div>
      {!selected && shown.length > 0 && (
        <p className="jp-Compilescope-hint jp-Compilescope-kernelsWhy">
          {trans.__(
            'Select a kernel to see its launches, its source lines and how it was fused.'
          )}
        </p>
      )}
    </>
  );
}

const EVERYTHING: IFilter = { text: '', language: '', direction: '' };

interface IOpened {
  readonly artifact: string;
  readonly variant?: string;
  readonly line?: number;
  readonly beside?: string;
}

/** A choice of one of the values that occur; nothing where they are all one. */
function Choice<T extends string>(props: {
  label: string;
  of: readonly T[];
  title: (value: T) => string;
  any: string;
  value: string;
  onChange: (value: string) => void;
}): JSX.Element | null {
  const values = [...new Set(props.of)];
  return values.length > 1 ? (
    <Select
      label={props.label}
      value={props.value}
      options={[
        { value: '', label: props.any },
        ...values.map(value => ({ value, label: props.title(value) }))
      ]}
      onChange={props.onChange}
    />
  ) : null;
}

/**
 * The kernel that the selection is of. Forward and backward may each have one of
 * that name: the one that was clicked here counts.
 */
function selectedOf(
  rows: readonly IRow[],
  chosen: string | null,
  name: string | null,
  isLinked: (row: IRow) => boolean
): IRow | null {
  const fits = (row: IRow) =>
    name === null ? isLinked(row) : row.kernel.name === name;
  return (
    rows.find(row => row.id === chosen && fits(row)) ?? rows.find(fits) ?? null
  );
}

/** What was decided of a kernel without the device: by its name, or by its nodes. */
function decisionsFor(
  { direction, name, nodes }: Kernel,
  decisions: readonly Decision[]
): Decision[] {
  return decisions.filter(
    decision =>
      decision.direction === direction &&
      (decision.kernel
        ? decision.kernel === name
        : decision.nodes.some(node => nodes.includes(node)))
  );
}

function hasSource(
  kernel: Kernel,
  variant: string,
  compilation: string,
  { model }: IViewContext
): boolean {
  const name = artifactOf(kernel);
  return !!model.report?.variants
    .find(summary => summary.name === variant)
    ?.compilations.find(({ id }) => id === compilation)
    ?.artifacts.some(artifact => artifact.name === name);
}

/**
 * Which of several graphs the kernels are of, whose kernels the Overview counts
 * together; empty where there is only one.
 */
function scopeOf(
  compilation: string,
  compilations: readonly CompilationSummary[],
  trans: TranslationBundle
): string {
  const counts = compilations
    .map(({ kernels }) => kernels)
    .filter(number => number > 0);
  return counts.length > 1
    ? `${trans.__(
        '%1, one of %2 graphs with %3 kernels:',
        compilation,
        formatCount(counts.length),
        formatCount(counts.reduce((sum, number) => sum + number, 0))
      )} `
    : '';
}
