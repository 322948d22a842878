import * as React from 'react';
import { comparedWith, otherHalf } from '../../graph/diff/stages';
import { hasKernelNames } from '../../graph/kernels';
import type { IStageData, IPrepared } from '../../graph/prepare';
import { wrapperName } from '../../model/wrappers';
import type { Region } from '../../protocol/types';
import type { ISubjectModel } from '../../interfaces/subject';
import { layoutInput, nodeTexts } from '../../graph/sizes';
import { Scene } from '../../graph/paint/scene';
import { LayoutClient } from '../../graph/worker/client';
import { makeWorker } from '../../graph/worker/factory';
import type { IGraphData } from './types';

/**
 * Loads a stage, with the data that its coloring needs.
 *
 * @param isCompared - Whether it is compared with an earlier stage.
 * @param beside - The stage shown beside it; null if none is.
 */
export async function loadStage(
  model: ISubjectModel,
  data: IGraphData,
  stage: string,
  isCompared: boolean,
  beside: string | null
): Promise<IStageData> {
  const { variant, compilation, stages, kernels } = data;
  const get = (name: string | null) =>
    name ? model.getGraph(variant, compilation, name) : null;
  const before = isCompared ? comparedWith(stage, beside, stages) : null;
  const [graph, earlier, other, regions] = await Promise.all([
    model.getGraph(variant, compilation, stage),
    get(before),
    get(before && otherHalf(stage, before, stages)),
    launchRegions(model, data, stage)
  ]);
  return { graph, before: earlier, other, kernels, regions };
}

/**
 * The regions of the wrapper that distinguish the launches of a kernel. Without
 * them, launches are distinguished by the connections between their nodes.
 */
async function launchRegions(
  model: ISubjectModel,
  { variant, compilation, kernels }: IGraphData,
  stage: string
): Promise<readonly Region[]> {
  const isNeeded =
    hasKernelNames(stage) && kernels.some(kernel => kernel.launches.length > 1);
  const launch = kernels.flatMap(kernel => kernel.launches)[0];
  if (!isNeeded || !launch) {
    return [];
  }
  const isBackward = stage.startsWith('backward');
  const preferred = wrapperName(
    isBackward ? 'backward' : 'forward',
    launch.artifact
  );
  const artifacts =
    model.report?.variants
      .find(summary => summary.name === variant)
      ?.compilations.find(({ id }) => id === compilation)?.artifacts ?? [];
  const names = artifacts
    .filter(
      artifact => artifact.group === 'code' && artifact.language !== 'text'
    )
    .map(artifact => artifact.name)
    .filter(name => /python|cpp/.test(name));
  const name =
    names.find(candidate => candidate === preferred) ??
    names.find(candidate => candidate.includes('backward') === isBackward);
  if (!name) {
    return [];
  }
  const { regions } = await model.getArtifact(variant, compilation, name);
  return regions;
}

/**
 * The layout of a graph as groups are opened and closed.
 */
export interface ILaidOutGraph {
  /**
   * The current layout; null until the first one is complete.
   */
  readonly scene: Scene | null;

  /**
   * The ids of the groups to open.
   */
  readonly open: ReadonlySet<string>;
  readonly isBusy: boolean;

  /**
   * Why there is no worker; null if there is one.
   */
  readonly fallback: string | null;
  readonly error: string | null;

  /**
   * Opens and closes groups.
   *
   * @param keep - An item that stays in place on the screen.
   */
  readonly setOpen: (open: ReadonlySet<string>, keep?: number) => void;

  /**
   * Cancels the running layout; the current one stays.
   */
  readonly cancel: () => void;

  /**
   * The item that stays in place in this scene.
   */
  readonly keep: number | null;
}

/**
 * Lays out a graph in a worker.
 *
 * @param first - The ids of the groups that are open initially.
 */
export function useLayout(
  prepared: IPrepared,
  first: () => ReadonlySet<string>,
  sizeText: (size: number) => string
): ILaidOutGraph {
  const [open, setOpen] = React.useState(first);
  const [shown, setShown] = React.useState<{
    prepared: IPrepared;
    scene: Scene;
    open: ReadonlySet<string>;
    keep: number | null;
  } | null>(null);
  const [isBusy, setBusy] = React.useState(false);
  const [fallback, setFallback] = React.useState<string | null>(null);
  const [error, setError] = React.useState<string | null>(null);
  const keep = React.useRef<number | null>(null);
  const drawing = React.useMemo(() => {
    const texts = nodeTexts(prepared.graph);
    const { graph, grouping } = prepared;
    return { texts, input: layoutInput(graph, grouping, texts, sizeText) };
  }, [prepared]);
  const client = React.useRef<LayoutClient | null>(null);
  React.useEffect(() => {
    const layoutClient = new LayoutClient(
      drawing.input,
      makeWorker,
      setFallback
    );
    client.current = layoutClient;
    return () => layoutClient.dispose();
  }, [drawing]);
  React.useEffect(() => {
    const { graph, grouping } = prepared;
    let isCurrent = true;
    setBusy(true);
    setError(null);
    const flags = Uint8Array.from(grouping.groups, (group, i) =>
      i === 0 || open.has(group.id) ? 1 : 0
    );
    client.current!.run(flags).then(
      result => {
        if (!isCurrent || !result) {
          return;
        }
        setBusy(false);
        const scene = new Scene(graph, grouping, drawing.texts, result.layout);
        setShown({ prepared, scene, open, keep: keep.current });
        keep.current = null;
      },
      reason => {
        if (isCurrent) {
          setBusy(false);
          setError(String(reason instanceof Error ? reason.message : reason));
        }
      }
    );
    return () => {
      isCurrent = false;
    };
  }, [drawing, open]);
  const isOf = shown?.prepared === prepared;
  return {
    scene: isOf ? shown.scene : null,
    open,
    isBusy,
    fallback,
    error,
    setOpen: (next, item) => {
      keep.current = item ?? null;
      setOpen(next);
    },
    cancel: () => {
      client.current?.cancel();
      setBusy(false);
      if (isOf) {
        setOpen(shown.open);
      }
    },
    keep: isOf ? shown.keep : null
  };
}

/**
 * A number that changes with JupyterLab's theme.
 */
export function useThemeTick(): number {
  const [tick, setTick] = React.useState(0);
  React.useEffect(() => {
    const observer = new MutationObserver(() => setTick(value => value + 1));
    const attributeFilter = ['data-jp-theme-name', 'data-jp-theme-light'];
    observer.observe(document.body, { attributes: true, attributeFilter });
    observer.observe(document.documentElement, {
      attributes: true,
      attributeFilter: ['data-theme']
    });
    return () => observer.disconnect();
  }, []);
  return tick;
}
