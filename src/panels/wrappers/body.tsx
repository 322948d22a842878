import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { wrapperName } from '../../model/wrappers';
import type { Step, Steps } from '../../protocol/types';
import { filled, Select, VirtualTable } from '../common';
import { directionTitle } from '../../words/directions';
import { StudyButton } from '../common/study';
import type { IViewContext } from '../views';
import { columnsOf } from './columns';
import { stepRows, type IRow } from './stepRows';
import { Totals } from './totals';
import type { IGraph, IPair, IWrappers } from './types';

/**
 * The work of a compilation's wrappers: by kind, and step by step.
 *
 * @param props.origin - The view, to recognize its own selections.
 */
export function WrappersBody(props: {
  wrappers: IWrappers;
  compilation: string;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { wrappers, compilation, context, origin } = props;
  const { pair, reasons } = wrappers;
  const { model, trans } = context;
  const graphs = graphsOf(wrappers);
  const [graphName, setGraphName] = React.useState('');
  const [chosen, setChosen] = React.useState<string | null>(null);
  const graph = graphs.find(({ name }) => name === graphName) ?? graphs[0];
  const { python, cpp } = graph;
  const rows = React.useMemo(
    () => stepRows(python?.steps ?? [], cpp?.steps ?? []),
    [python, cpp]
  );
  const variants = (model.report?.variants ?? []).filter(
    ({ name }) => name === pair.python || name === pair.cpp
  );
  const isForTarget = variants.some(({ requested }) => requested.target);
  const onLine = (row: IRow, side: Steps['artifact'], step: Step) => {
    const variant = side === 'python' ? pair.python : pair.cpp;
    if (variant === null) {
      return;
    }
    setChosen(row.id);
    model.select({
      key: step.kernel ? step.key : null,
      text: {
        variant,
        compilation,
        artifact: wrapperName(graph.direction, side),
        line: step.start
      },
      origin
    });
    context.open('code');
  };
  const columns = filled(
    columnsOf(
      graph,
      { python: pair.python ?? '', cpp: pair.cpp ?? '' },
      rows,
      context,
      origin,
      // Further graphs of a direction have no text.
      graph.number === 1 ? onLine : null
    ),
    rows
  );
  const isMarked = ({ python, cpp }: IRow) =>
    [python, cpp].some(
      step => step !== null && model.linked.keys.has(step.key)
    );
  return (
    <>
      <div
        className="jp-Compilescope-controls"
        role="toolbar"
        aria-label={trans.__('Which wrappers are shown')}
      >
        {graphs.length > 1 && (
          <Select
            label={trans.__('Graph')}
            value={graph.name}
            options={graphs.map(({ name, direction, number }) => ({
              value: name,
              label:
                number === 1
                  ? directionTitle(direction, trans)
                  : `${directionTitle(direction, trans)} ${number}`
            }))}
            onChange={setGraphName}
          />
        )}
        {!isForTarget && (
          <StudyButton
            study="steps"
            label={trans.__('Measure steps')}
            variants={variants}
            unbuilt={trans.__(
              'Build the variants first, with the button in the sidebar.'
            )}
            context={context}
          />
        )}
      </div>
      <div className="jp-Compilescope-wrappersBody">
        <Totals
          graph={graph}
          pair={pair}
          missing={missingText(pair, model.isLive, trans)}
          unmeasured={
            isForTarget
              ? trans.__(
                  'Steps are counted in the code. They have no times: nothing runs on a device that is not here.'
                )
              : unmeasuredText(
                  model.isLive,
                  variants.some(({ stage }) => stage === 'built'),
                  trans
                )
          }
          trans={trans}
        />
        {reasons.map(reason => (
          <p key={reason} className="jp-Compilescope-hint">
            {reason}
          </p>
        ))}
        <VirtualTable
          label={trans.__('Steps of the wrappers')}
          columns={columns}
          rows={rows}
          keyOf={row => row.id}
          sort={null}
          onSort={() => undefined}
          selected={chosen}
          onSelect={row => {
            const step = row.python ?? row.cpp;
            setChosen(row.id);
            model.select({ key: step?.key ?? null, origin });
          }}
          isMarked={isMarked}
          revealKey={model.selection.origin === origin ? null : model.linked}
          trans={trans}
        />
      </div>
    </>
  );
}

/**
 * Which of the two wrappers is missing, and how to get it; empty if both exist.
 * The missing one has the same settings, for the same device.
 */
function missingText(
  { python, cpp }: IPair,
  isLive: boolean,
  trans: TranslationBundle
): string {
  if (python !== null && cpp !== null) {
    return '';
  }
  const shown = python ?? cpp ?? '';
  const what =
    cpp === null
      ? trans.__('No C++ wrapper with the other settings of %1.', shown)
      : trans.__('No Python wrapper with the other settings of %1.', shown);
  const how =
    cpp === null
      ? trans.__('Turn on cpp_wrapper in the sidebar to compare.')
      : trans.__('Turn off cpp_wrapper in the sidebar to compare.');
  return isLive ? `${what} ${how}` : what;
}

/**
 * Why steps have no times, and how to measure them.
 */
function unmeasuredText(
  isLive: boolean,
  isBuilt: boolean,
  trans: TranslationBundle
): string {
  if (!isLive) {
    return trans.__(
      'Steps are counted in the code; their host time was not measured in this report.'
    );
  }
  return isBuilt
    ? trans.__(
        'Steps are counted in the code. “Measure steps” measures their host time.'
      )
    : trans.__(
        'Steps are counted in the code. Their host time can be measured once the variants are built.'
      );
}

/**
 * The graphs of a compilation, the forward before the backward.
 */
function graphsOf({ python, cpp }: IWrappers): readonly IGraph[] {
  const graphs = new Map<string, IGraph>();
  for (const wrappers of [python, cpp]) {
    const counts: Partial<Record<Steps['direction'], number>> = {};
    for (const steps of wrappers) {
      const { direction, artifact } = steps;
      const number = (counts[direction] = (counts[direction] ?? 0) + 1);
      const name = `${direction} ${number}`;
      const graph = graphs.get(name);
      graphs.set(name, {
        name,
        direction,
        number,
        python: null,
        cpp: null,
        ...graph,
        [artifact]: steps
      });
    }
  }
  return [...graphs.values()];
}
