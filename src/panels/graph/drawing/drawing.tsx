import * as React from 'react';
import { colorNodes } from '../../../graph/color/coloring';
import { initiallyOpenGroups } from '../../../graph/initiallyOpen';
import { readTheme } from '../../../graph/paint/theme';
import type { IPrepared } from '../../../graph/prepare';
import { groupsAround, searchNodes } from '../../../graph/search';
import { groupShares } from '../../../graph/shares';
import type { Direction } from '../../../graph/walk';
import { walk } from '../../../graph/walk';
import { problemOf } from '../../../protocol/client';
import type { IViewContext } from '../../views';
import { GraphCanvas } from './canvas';
import { Details } from '../aside/details';
import { exportPicture } from '../exporting';
import { useLayout, useThemeTick } from '../hooks';
import { Legend } from '../aside/legend';
import { litNodes, selectNode } from '../linking';
import { Outline } from '../aside/outline';
import { GraphHeader } from '../header';
import { describe, Tooltip } from './tooltip';
import type { IGraphData, IPaneHandle, ISettings } from '../types';
import { whyNot } from '../toolbar';
import { countNodes, modeTitle, stageTitle } from '../words';
import type { IPicture } from '../../../graph/paint/picture';

const KEYS: Record<string, Direction> = {
  ArrowUp: 'inputs',
  ArrowDown: 'users',
  ArrowLeft: 'before',
  ArrowRight: 'after'
};

/**
 * A loaded stage: the drawing, its legend, its outline, and the details of the
 * current node.
 */
export function Drawing(props: {
  context: IViewContext;
  data: IGraphData;
  stage: string;
  settings: ISettings;
  prepared: IPrepared;
  absent: Readonly<Record<string, string>>;
  picker: React.ReactNode;
  isFitted: boolean;
  handleRef: (handle: IPaneHandle | null) => void;
  origin: object;
}): JSX.Element {
  const { context, data, stage, settings, prepared, origin } = props;
  const { model, trans } = context;
  const { graph, grouping } = prepared;
  const count = graph.nodes.length;
  const host = React.useRef<HTMLDivElement>(null);
  const canvas = React.useRef<GraphCanvas | null>(null);
  const goal = React.useRef<number | 'all' | 'marked' | null>(null);
  const [focus, setFocus] = React.useState<number | null>(null);
  const [isFocused, setFocused] = React.useState(false);
  const [hover, setHover] = React.useState<{
    item: number;
    x: number;
    y: number;
  } | null>(null);
  const [, setScale] = React.useState(1);
  const [hit, setHit] = React.useState(-1);
  const [unsaved, setUnsaved] = React.useState<string | null>(null);
  const sizeText = (size: number) => countNodes(size, trans);
  const layout = useLayout(
    prepared,
    () => initiallyOpenGroups(grouping),
    sizeText
  );
  const { scene, open } = layout;
  const tick = useThemeTick();
  // A stage that does not support this mode is colored by kind.
  const missing = whyNot(settings.mode, data, stage, trans);
  const mode = missing ? 'kind' : settings.mode;
  const coloring = React.useMemo(
    () => colorNodes(mode, prepared),
    [prepared, mode]
  );
  const picture = React.useMemo((): IPicture | null => {
    if (!scene || !host.current || scene.graph !== graph) {
      return null;
    }
    return {
      scene,
      coloring,
      fusions: mode === 'kernel' ? prepared.fusions : [],
      theme: readTheme(host.current),
      sizeText,
      shares: groupShares(grouping, coloring)
    };
  }, [scene, coloring, tick]);
  const hits = React.useMemo(
    () => searchNodes(graph, grouping, settings.query),
    [graph, grouping, settings.query]
  );
  React.useEffect(() => setHit(-1), [hits]);

  const latest = React.useRef({ choose, toggle });
  latest.current = { choose, toggle };
  React.useEffect(() => {
    const graphCanvas = new GraphCanvas(host.current!, {
      onSelect: item => latest.current.choose(item),
      onToggle: item => latest.current.toggle(item),
      onHover: (item, x, y) => setHover(item === null ? null : { item, x, y }),
      onScale: setScale,
      isFitted: props.isFitted
    });
    canvas.current = graphCanvas;
    // For the benchmark, which measures frames in the browser.
    Object.assign(host.current!, { compilescopeCanvas: graphCanvas });
    return () => graphCanvas.dispose();
  }, []);
  React.useEffect(() => {
    if (picture) {
      canvas.current!.setPicture(picture, layout.keep);
      const to = goal.current;
      if (to !== null && !layout.isBusy) {
        if (to === 'all') {
          canvas.current!.fit();
        } else if (to === 'marked') {
          revealMarked(null);
        } else {
          canvas.current!.reveal(picture.scene.visibleItem(to));
        }
        goal.current = null;
      }
    }
  }, [picture]);

  // What is selected elsewhere becomes the current node here.
  const { selection, linked } = model;
  const lit = React.useMemo(
    () => litNodes(selection, linked, prepared),
    [selection, linked, prepared]
  );
  React.useEffect(() => {
    const { node } = selection;
    const selected =
      node?.stage === stage ? (graph.at.get(node.name) ?? null) : null;
    if (selected !== null) {
      setFocus(selected);
    } else if (lit.size > 0 || selection.origin !== origin) {
      setFocus(now => (now !== null && now < count ? null : now));
    }
    if (selection.origin !== origin || node?.stage !== stage) {
      revealMarked(selected);
    }
  }, [selection, lit]);
  React.useEffect(() => {
    canvas.current?.setMarks({
      focus: focus !== null && scene ? scene.visibleItem(focus) : null,
      isFocused,
      lit,
      hits,
      hit: hits[hit] ?? null
    });
  }, [focus, isFocused, lit, hits, hit, scene]);

  /**
   * Scrolls what is marked into view, from `first` on.
   */
  function revealMarked(first: number | null): void {
    const nodes = [...lit].sort((a, b) => a - b);
    const marked = first === null ? nodes : [first, ...nodes];
    const items = new Set(marked.map(node => scene?.visibleItem(node) ?? node));
    if (scene) {
      canvas.current?.reveal(...items);
    } else if (items.size > 0 && !props.isFitted) {
      goal.current = 'marked';
    }
  }

  function choose(item: number | null): void {
    setFocus(item);
    setHover(null);
    if (item === null || item >= count) {
      if (model.selection.origin === origin) {
        model.select({ origin });
      }
      return;
    }
    selectNode(model, prepared, item, origin);
  }

  function toggle(item: number): void {
    const { id } = grouping.groups[item - count];
    const next = new Set(open);
    if (!next.delete(id)) {
      next.add(id);
    }
    setFocus(item);
    setHover(null);
    layout.setOpen(next, item);
  }

  /**
   * Goes to a node, even inside closed groups.
   */
  function go(node: number): void {
    const hidden = groupsAround(grouping, node)
      .map(group => grouping.groups[group].id)
      .filter(id => !open.has(id));
    choose(node);
    if (hidden.length > 0) {
      goal.current = node;
      layout.setOpen(new Set([...open, ...hidden]));
    } else {
      canvas.current?.reveal(node);
    }
  }

  function find(step: 1 | -1): void {
    if (hits.length > 0) {
      const next =
        hit < 0 && step < 0
          ? hits.length - 1
          : (hit + step + hits.length) % hits.length;
      setHit(next);
      go(hits[next]);
    }
  }

  React.useEffect(() => {
    props.handleRef({
      stage,
      zoom: factor => canvas.current?.zoom(factor),
      fit: () => canvas.current?.fit(),
      openAll: () => {
        goal.current = 'all';
        layout.setOpen(new Set(grouping.groups.map(g => g.id)));
      },
      closeAll: () => {
        goal.current = 'all';
        layout.setOpen(new Set());
      },
      export: kind => {
        if (picture) {
          const name = [model.report?.subject.name, data.compilation, stage];
          setUnsaved(null);
          exportPicture(picture, kind, name.filter(Boolean).join(' ')).catch(
            error => setUnsaved(problemOf(error).what)
          );
        }
      },
      find
    });
  });
  React.useEffect(() => () => props.handleRef(null), []);

  function onKeyDown(event: React.KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !scene) {
      return;
    }
    const isHere = focus !== null && scene.box(focus) !== null;
    const first = scene.layout.items[0];
    const at = isHere ? focus : first;
    const direction = KEYS[event.key];
    if (direction) {
      const next = isHere ? walk(scene, at, direction) : first;
      if (next !== null && next !== undefined) {
        choose(next);
        canvas.current?.reveal(next);
      }
    } else if ((event.key === 'Enter' || event.key === ' ') && at >= count) {
      toggle(at);
    } else if (event.key === 'Escape' && focus !== null) {
      choose(null);
    } else if (event.key === '+' || event.key === '=') {
      canvas.current?.zoom(1.3);
    } else if (event.key === '-') {
      canvas.current?.zoom(1 / 1.3);
    } else if (event.key === '0') {
      canvas.current?.fit();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  const title = stageTitle(stage, trans);
  return (
    <>
      <GraphHeader
        context={context}
        picker={props.picker}
        prepared={prepared}
        absent={props.absent}
        layout={layout}
        unsaved={unsaved}
        hits={settings.query ? { count: hits.length, at: hit } : null}
        mode={mode}
      />
      <div className="jp-Compilescope-graph-middle">
        <div
          ref={host}
          className="jp-Compilescope-graph-canvas"
          role="application"
          aria-roledescription={trans.__('graph')}
          aria-label={trans.__(
            '%1: %2. Arrow keys follow edges, Enter opens and closes a group, plus and minus zoom.',
            title,
            countNodes(count, trans)
          )}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onFocus={() => setFocused(true)}
          onBlur={() => setFocused(false)}
        >
          {hover && scene && (
            <Tooltip
              prepared={prepared}
              item={hover.item}
              x={hover.x}
              y={hover.y}
              coloring={coloring}
              trans={trans}
            />
          )}
          <Legend
            coloring={coloring}
            prepared={prepared}
            context={context}
            instead={
              mode === settings.mode
                ? ''
                : trans.__(
                    'instead of “%1”: %2',
                    modeTitle(settings.mode, trans),
                    missing
                  )
            }
          />
        </div>
        {settings.isOutlined && (
          <Outline
            prepared={prepared}
            open={open}
            focus={focus}
            label={trans.__('Outline of %1', title)}
            trans={trans}
            onToggle={toggle}
            onChoose={item => {
              choose(item);
              if (item < count) {
                go(item);
              } else {
                canvas.current?.reveal(item);
              }
            }}
          />
        )}
      </div>
      {focus !== null && (
        <Details
          context={context}
          prepared={prepared}
          item={focus}
          origin={origin}
          go={go}
          onClose={() => choose(null)}
        />
      )}
      <div className="jp-Compilescope-hidden" aria-live="polite">
        {isFocused && focus !== null
          ? describe(prepared, focus, open, trans)
          : ''}
      </div>
    </>
  );
}
