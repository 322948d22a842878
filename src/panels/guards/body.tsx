import * as React from 'react';
import type { Compilation } from '../../protocol/types';
import { isSelected } from '../common';
import { shownGraph, useGraphs, Missing } from '../common/graphs';
import type { IViewContext } from '../views';
import { Conditions } from './conditions';
import { conditionsOf } from './conditionRows';
import { Controls } from './controls';
import { Details } from './details';
import type { IGuardOptions } from './filter';
import { GuardList } from './list';
import type { IGraphGuards } from './rows';
import { entriesOf } from './rows';
import { Summary } from './summary';
import { summarize } from './totals';

/**
 * The guard that the user chose.
 */
export interface IChosenGuard {
  readonly compilation: string;

  /**
   * Its place among the guards of the compilation; null where only its expression is
   * known.
   */
  readonly place: number | null;
  readonly expression: string;
}

/**
 * The guards of a variant's compilations, or of one of them.
 */
export function GuardsBody(props: {
  variant: string;

  /**
   * The first of the compilations that are shown.
   */
  first: IGraphGuards;

  /**
   * Reads another one.
   */
  read: (id: string) => Promise<IGraphGuards>;
  options: IGuardOptions;
  onOptions: (options: IGuardOptions) => void;
  chosen: IChosenGuard | null;
  onChoose: (chosen: IChosenGuard | null) => void;
  context: IViewContext;
  view: object;
}): JSX.Element {
  const { variant, context, view } = props;
  const { model, trans } = context;
  const graphs = useGraphs(context, {
    variant,
    listed: 'guards',
    first: props.first,
    graph: shownGraph(model),
    read: props.read,
    fail: (id, why) => ({ id, compilation: null, why })
  });
  const { ids, read } = graphs;
  const compilations = React.useMemo(
    () => read.flatMap(({ compilation }) => compilation ?? []),
    [read]
  );
  const entries = React.useMemo(() => {
    let count = 0;
    return compilations.flatMap(compilation => {
      const own = entriesOf(compilation, count);
      count += own.length;
      return own;
    });
  }, [compilations]);
  const guards = React.useMemo(
    () => entries.map(({ guard }) => guard),
    [entries]
  );
  const summary = React.useMemo(() => summarize(compilations), [compilations]);
  const isOfSeveral = ids.length > 1;
  const hasTree = compilations.some(({ guard_tree }) => guard_tree.length > 0);
  const options: IGuardOptions =
    props.options.arrangement === 'tree' && !hasTree
      ? { ...props.options, arrangement: 'source' }
      : props.options;
  const absent = (what: string) =>
    compilations.map(each => each.absent[what] ?? '').find(Boolean) ?? '';
  const noCost = absent('guard_costs') || trans.__('not measured');
  const conditions = React.useMemo(
    () => conditionsOf(compilations),
    [compilations]
  );
  const chosen = entries.find(
    ({ compilation, place, guard }) =>
      compilation === props.chosen?.compilation &&
      (props.chosen.place === null
        ? guard.expression === props.chosen.expression
        : place === props.chosen.place)
  );
  const shownChosen = chosen?.index ?? null;
  const choose = (index: number) => {
    const { compilation, place, guard } = entries[index];
    props.onChoose({ compilation, place, expression: '' });
    if (model.hasAllGraphs) {
      model.showAllGraphs(compilation);
    }
    if (guard.origin) {
      const { file, line } = guard.origin;
      model.select({ source: { file, line }, origin: view });
    }
  };
  const { selection, linked } = model;
  const ofChosen = compilations.find(({ id }) => id === chosen?.compilation);
  return (
    <>
      {guards.length > 0 && (
        <Summary
          summary={summary}
          graphs={ids.length}
          waiting={graphs.waiting}
          noCost={noCost}
          noHits={absent('guard_hits')}
          lacking={absent('added_guards')}
          trans={trans}
        />
      )}
      <Missing
        graphs={graphs}
        label={(ids, why) => trans.__('No guards of %1: %2', ids, why)}
        trans={trans}
      />
      {conditions.length > 0 && (
        <Conditions
          conditions={conditions}
          chosen={shownChosen}
          onChoose={choose}
          trans={trans}
        />
      )}
      <Controls
        guards={guards}
        hasTree={hasTree}
        marked={
          guards.filter(({ origin }) => isSelected(context, origin)).length
        }
        hasLine={selection.source !== null || linked.sources.length > 0}
        options={options}
        onChange={change => props.onOptions({ ...options, ...change })}
        trans={trans}
      />
      <GuardList
        compilations={compilations}
        entries={entries}
        options={options}
        columns={{
          context,
          view,
          graphs: isOfSeveral ? graphs.titles : null,
          scale:
            (options.arrangement === 'tree' ? summary.cost : null) ??
            summary.highest,
          noCost,
          hasCosts: summary.cost !== null || summary.highest !== null,
          hasHits: guards.some(guard => guard.hits !== null),
          hasFails: compilations.some(hasFailed),
          noCounts: absent('guard_hits') || trans.__('not counted')
        }}
        chosen={shownChosen}
        onChoose={choose}
      />
      {chosen && ofChosen && (
        <Details
          guard={chosen.guard}
          compilation={ofChosen}
          context={context}
          view={view}
          onClose={() => props.onChoose(null)}
        />
      )}
    </>
  );
}

function hasFailed({ guards, guard_tree }: Compilation): boolean {
  return [...guards, ...guard_tree].some(({ fails }) => fails);
}
