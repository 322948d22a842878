import * as React from 'react';
import { wrapperName } from '../../model/wrappers';
import type { Decision, Kernel, Launch } from '../../protocol/types';
import type { Sort } from '../common';
import { filled, SearchField, Select, sorted, VirtualTable } from '../common';
import { shownGraph, useGraphs, Missing } from '../common/graphs';
import { StudyButton } from '../common/study';
import type { IViewContext } from '../views';
import { columnsOf } from './columns';
import { Details } from './details';
import { languageTitle } from './phrases';
import { directionTitle } from '../../words/directions';
import { TargetButtons } from './targetButtons';
import type { IGraphKernels } from './read';
import type { IFilter, IRow } from './rows';
import { artifactOf, filtered, rowsOf } from './rows';
import { TotalsText } from './totals';

/**
 * The kernels of a variant's graphs, or of one of them: a table, and the
 * details of the selected kernel.
 *
 * @param props.origin - The view, to recognize its own selections.
 */
export function KernelsBody(props: {
  variant: string;

  /**
   * The first of the shown graphs.
   */
  first: IGraphKernels;

  /**
   * Loads another graph.
   */
  read: (id: string) => Promise<IGraphKernels>;

  /**
   * Why the launches could not be timed; empty if they could, or timing was not requested.
   */
  whyUntimed?: string;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { variant, context, origin } = props;
  const { model, trans } = context;
  const [filter, setFilter] = React.useState<IFilter>(EVERYTHING);
  const [sort, setSort] = React.useState<Sort>(null);
  const [chosen, setChosen] = React.useState<string | null>(null);
  const files = model.report?.files;
  const summary = model.report?.variants.find(({ name }) => name === variant);
  const graphs = useGraphs(context, {
    variant,
    listed: 'kernels',
    first: props.first,
    graph: shownGraph(model),
    read: props.read,
    fail: (id, why) => ({ id, kernels: [], decisions: [], why })
  });
  const { read, titles } = graphs;
  const isOfSeveral = graphs.ids.length > 1;
  const rows = React.useMemo(
    () =>
      read.flatMap(({ id, kernels }) =>
        rowsOf(kernels, variant, id, files ?? {})
      ),
    [read, variant, files]
  );
  const choose = (row: IRow) => {
    setChosen(row.id);
    if (model.hasAllGraphs) {
      model.showAllGraphs(row.compilation);
    }
  };
  const open = (row: IRow, position: IOpened, launch?: Launch) => {
    choose(row);
    const { compilation } = row;
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
  const target = summary?.target?.title ?? null;
  const conflict = model.report?.overview?.conflicts.find(
    entry => entry.variant === variant
  );
  const columns = filled(
    columnsOf(context, {
      origin,
      isTimed,
      isTraining,
      graphs: isOfSeveral ? titles : null,
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
  // The selection belongs to the compilation selected in all views.
  const isOfShown = ({ compilation }: IRow) =>
    compilation === model.compilation;
  const isLinked = (row: IRow) =>
    isOfShown(row) && model.linked.kernels.has(row.kernel.name);
  const { kernel: name } = model.selection;
  const selected = selectedOf(rows, chosen, row =>
    name === null ? isLinked(row) : isOfShown(row) && row.kernel.name === name
  );
  const kernels = rows.map(({ kernel }) => kernel);
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
        <TotalsText
          rows={shown}
          of={rows}
          target={target}
          waiting={graphs.waiting}
          trans={trans}
        />
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
      <Missing
        graphs={graphs}
        label={(ids, why) => trans.__('No kernels of %1: %2', ids, why)}
        className="jp-Compilescope-kernelsWhy"
        trans={trans}
      />
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
            choose(row);
            model.select({ kernel: row.kernel.name, origin });
          }}
          isMarked={isLinked}
          startsGroup={
            isOfSeveral && sort === null
              ? (row, above) => row.compilation !== above.compilation
              : undefined
          }
          none={rows.length > 0 && trans.__('No kernel matches the filter.')}
          trans={trans}
        />
        {selected && (
          <Details
            key={selected.id}
            row={selected}
            context={context}
            origin={origin}
            onSource={
              hasSource(selected, variant, context)
                ? () =>
                    open(selected, { artifact: artifactOf(selected.kernel) })
                : null
            }
            onLaunch={launch => onLaunch(selected, launch)}
            target={target}
            decisions={decisionsFor(
              selected.kernel,
              read.find(({ id }) => id === selected.compilation)?.decisions ??
                []
            )}
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

/** A choice of one of the values that occur; nothing if they are all equal. */
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
 * The kernel of the selection. Forward and backward may each have a kernel of
 * that name: the clicked one takes precedence.
 */
function selectedOf(
  rows: readonly IRow[],
  chosen: string | null,
  fits: (row: IRow) => boolean
): IRow | null {
  return (
    rows.find(row => row.id === chosen && fits(row)) ?? rows.find(fits) ?? null
  );
}

/** The decisions about a kernel without the device: by its name, or by its nodes. */
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
  { kernel, compilation }: IRow,
  variant: string,
  { model }: IViewContext
): boolean {
  const name = artifactOf(kernel);
  return !!model.report?.variants
    .find(summary => summary.name === variant)
    ?.compilations.find(({ id }) => id === compilation)
    ?.artifacts.some(artifact => artifact.name === name);
}
