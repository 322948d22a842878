import * as React from 'react';
import { prepareStage } from '../../graph/prepare';
import { Select, useLoaded, ViewFrame } from '../common';
import type { IViewContext } from '../views';
import { Drawing } from './drawing/drawing';
import { loadStage } from './hooks';
import type { IGraphData, IPaneHandle, ISettings } from './types';
import { stageTitle } from './words';

/**
 * One stage: its header and its drawing.
 */
export function Pane(props: {
  context: IViewContext;
  data: IGraphData;
  stage: string;

  /**
   * The stage shown beside it; null if none is.
   */
  beside: string | null;
  onStage: (stage: string) => void;
  settings: ISettings;

  /**
   * Whether a drawing initially shows the whole graph, however small.
   */
  isFitted: boolean;

  /**
   * Whether the toolbar acts on it, and not on the one beside it.
   */
  isActive: boolean;
  onActive: () => void;
  handleRef: (handle: IPaneHandle | null) => void;
  origin: object;
}): JSX.Element {
  const { context, data, stage, beside, settings } = props;
  const { model, trans } = context;
  const isCompared = settings.mode === 'change';
  const place = JSON.stringify([
    data.subject,
    data.variant,
    data.compilation,
    stage,
    isCompared,
    isCompared && beside
  ]);
  const loaded = useLoaded(
    () => loadStage(model, data, stage, isCompared, beside),
    `${place} ${data.revision}`,
    trans.__('Loading the graph…'),
    place
  );
  const stageData = loaded.kind === 'data' ? loaded.data : null;
  const prepared = React.useMemo(
    () => stageData && prepareStage(stageData, settings.basis, isCompared),
    [stageData, settings.basis, isCompared]
  );
  const picker = (
    <Select
      label={trans.__('Stage')}
      value={stage}
      options={data.stages.map(name => ({
        value: name,
        label: stageTitle(name, trans)
      }))}
      onChange={props.onStage}
    />
  );
  return (
    <section
      className={
        'jp-Compilescope-graph-pane' + (props.isActive ? ' jp-mod-active' : '')
      }
      aria-label={stageTitle(stage, trans)}
      onFocusCapture={props.onActive}
      onPointerDownCapture={props.onActive}
    >
      {loaded.kind === 'data' && prepared ? (
        <Drawing
          // Other nodes have other groups: start over.
          key={JSON.stringify([
            data.variant,
            data.compilation,
            stage,
            prepared.grouping.basis,
            prepared.graph.nodes.length,
            prepared.grouping.groups.length
          ])}
          {...props}
          prepared={prepared}
          absent={loaded.data.graph.absent}
          picker={picker}
        />
      ) : (
        <>
          <header className="jp-Compilescope-graph-header">{picker}</header>
          <ViewFrame
            state={
              loaded.kind === 'data'
                ? { kind: 'loading', label: trans.__('Loading the graph…') }
                : loaded
            }
            trans={trans}
            show={() => null}
          />
        </>
      )}
    </section>
  );
}
