import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { onThemeChange } from '../../../charts';
import { useWidth } from '../../common';
import { Palette } from './colors';
import { DRAG_FROM, onKey, onWheel } from './gestures';
import type { IPlace, IWaterfall, Step } from './lanes';
import { rank, spanAt, walk } from './lanes';
import { AXIS_HEIGHT, spanAtPoint, layOutLanes, ROW_HEIGHT } from './layout';
import { paint } from './paint';
import { figuresOf, laneTitle, figuresAsSentence } from '../phrases';
import { Tip } from './tip';
import type { IWindow } from './viewport';
import { windowAround, pan, reveal } from './viewport';

/**
 * A span smaller than this fraction of the window is zoomed to.
 */
const MIN_VISIBLE_SHARE = 0.004;

const STEPS: Readonly<Record<string, Step>> = {
  ArrowLeft: 'previous',
  ArrowRight: 'next',
  ArrowUp: 'parent',
  ArrowDown: 'child',
  Home: 'first',
  End: 'last'
};

/**
 * Phases as bars on a time axis: painted on a canvas, since there are
 * thousands.
 *
 * For screen readers it is a tree whose current item is described; the table
 * beside it has the same content.
 */
export function Chart(props: {
  chart: IWaterfall;
  window: IWindow;
  onWindow: (window: IWindow) => void;
  place: IPlace | null;
  onPlace: (place: IPlace | null) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { chart, window, place, trans } = props;
  const { total } = chart;
  const id = React.useId();
  const scroller = React.useRef<HTMLDivElement>(null);
  const canvas = React.useRef<HTMLCanvasElement>(null);
  const probes = React.useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const palette = usePalette(probes);
  const [pointer, setPointer] = React.useState<IPoint | null>(null);
  const drag = React.useRef<{ x: number; start: IWindow; on: boolean } | null>(
    null
  );
  const layout = React.useMemo(() => layOutLanes(chart), [chart]);
  const titles = React.useMemo(
    () => chart.lanes.map(lane => laneTitle(lane, trans)),
    [chart]
  );

  /** The span at a point of the chart, as currently drawn. */
  const spanUnder = ({ x, y }: IPoint): IPlace | null => {
    const perPixel = (window.end - window.start) / width;
    const below = y - AXIS_HEIGHT + (scroller.current?.scrollTop ?? 0);
    return y < AXIS_HEIGHT || width === 0
      ? null
      : spanAtPoint(
          chart,
          layout,
          window.start + x * perPixel,
          below,
          perPixel
        );
  };
  // Updated at every drawing: after a zoom, another span may be under a pointer
  // that rests.
  const hovered = pointer && spanUnder(pointer);

  const draw = useFrame(() => {
    const node = canvas.current;
    const box = scroller.current;
    const colors = palette.current?.read();
    if (!node || !box || !colors || width === 0) {
      return;
    }
    const height = box.clientHeight;
    const ratio = globalThis.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (node.width !== w || node.height !== h) {
      node.width = w;
      node.height = h;
    }
    const context = node.getContext('2d');
    if (!context) {
      return;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scene = { chart, layout, window, width, height };
    paint(
      context,
      {
        ...scene,
        scroll: box.scrollTop,
        selected: place,
        hovered,
        title: lane => titles[lane]
      },
      colors
    );
  });
  React.useEffect(draw);
  React.useEffect(() => onThemeChange(draw), []);

  const bring = (to: IPlace | null) => {
    const span = spanAt(chart, to);
    const box = scroller.current;
    if (!to || !span || !box) {
      return;
    }
    const { start, duration } = span;
    props.onWindow(reveal(window, start, duration, total, MIN_VISIBLE_SHARE));
    const top = layout.boxes[to.lane].rows + span.row * ROW_HEIGHT;
    const room = box.clientHeight - AXIS_HEIGHT;
    if (top < box.scrollTop) {
      box.scrollTop = Math.max(0, top - ROW_HEIGHT);
    } else if (top + ROW_HEIGHT > box.scrollTop + room) {
      box.scrollTop = top + 2 * ROW_HEIGHT - room;
    }
  };
  React.useEffect(() => bring(place), [place]);

  const pointOf = (event: { clientX: number; clientY: number }): IPoint => {
    const box = scroller.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  // React's wheel listeners are passive: the page would zoom as well.
  const wheel = React.useRef<(event: WheelEvent) => void>(() => undefined);
  wheel.current = event => {
    const { x } = pointOf(event);
    const next = onWheel(event, window, x / width, width, total);
    if (next) {
      event.preventDefault();
      props.onWindow(next);
    }
  };
  React.useEffect(() => {
    const node = scroller.current!;
    const listener = (event: WheelEvent) => wheel.current(event);
    node.addEventListener('wheel', listener, { passive: false });
    return () => node.removeEventListener('wheel', listener);
  }, []);

  const span = spanAt(chart, place);
  const figures = figuresOf(chart, place, trans);
  const hoveredFigures = figuresOf(chart, hovered, trans);
  return (
    <div className="jp-Compilescope-timeChart">
      <div ref={probes} className="jp-Compilescope-timeProbes" />
      <div
        ref={scroller}
        className="jp-Compilescope-timeScroller"
        role="tree"
        tabIndex={0}
        aria-label={trans.__('Compile timeline')}
        aria-activedescendant={figures ? id : undefined}
        style={{ height: Math.min(layout.height + AXIS_HEIGHT + 2, 4000) }}
        onScroll={draw}
        onFocus={() => {
          // A press without a drag selects what is under the pointer.
          if (!place && !drag.current && chart.lanes.length) {
            props.onPlace({ lane: 0, span: 0 });
          }
        }}
        onKeyDown={event => {
          if (event.altKey || event.ctrlKey || event.metaKey) {
            return;
          }
          const step = STEPS[event.key];
          const middle = span
            ? span.start + span.duration / 2
            : (window.start + window.end) / 2;
          const next = onKey(event.key, window, middle, total);
          if (step) {
            props.onPlace(walk(chart, place, step));
          } else if (next) {
            props.onWindow(next);
          } else if (event.key === 'Enter' && span) {
            props.onWindow(windowAround(span.start, span.duration, total));
          } else if (event.key === 'Escape' && place) {
            props.onPlace(null);
          } else {
            return;
          }
          event.preventDefault();
          event.stopPropagation();
        }}
        onPointerDown={event => {
          if (event.button === 0) {
            drag.current = { x: event.clientX, start: window, on: false };
          }
        }}
        onPointerMove={event => {
          const { current } = drag;
          if (current && event.buttons & 1) {
            const by = current.x - event.clientX;
            if (!current.on && Math.abs(by) > DRAG_FROM) {
              current.on = true;
              event.currentTarget.setPointerCapture(event.pointerId);
            }
            if (current.on) {
              const perPixel = (window.end - window.start) / width;
              setPointer(null);
              props.onWindow(pan(current.start, by * perPixel, total));
            }
            return;
          }
          setPointer(pointOf(event));
        }}
        onPointerUp={event => {
          const isClick = drag.current && !drag.current.on;
          drag.current = null;
          if (isClick) {
            props.onPlace(spanUnder(pointOf(event)));
          }
        }}
        onPointerLeave={() => {
          // The button may be released outside the chart, where a drag continues.
          if (!drag.current?.on) {
            drag.current = null;
          }
          setPointer(null);
        }}
        onPointerCancel={() => {
          drag.current = null;
        }}
        onDoubleClick={event => {
          const target = spanAt(chart, spanUnder(pointOf(event)));
          props.onWindow(
            target
              ? windowAround(target.start, target.duration, total)
              : { start: 0, end: total }
          );
        }}
      >
        <div style={{ height: layout.height + AXIS_HEIGHT }}>
          <canvas ref={canvas} aria-hidden="true" />
        </div>
        {figures && place && (
          <span
            id={id}
            role="treeitem"
            className="jp-Compilescope-hidden"
            aria-level={span!.level + 1}
            aria-posinset={rank(chart, place).position}
            aria-setsize={rank(chart, place).size}
            aria-selected={true}
            aria-expanded={span!.children.length ? true : undefined}
          >
            {figuresAsSentence(figures)}
          </span>
        )}
      </div>
      {pointer && hoveredFigures && (
        <Tip figures={hoveredFigures} {...pointer} width={width} />
      )}
    </div>
  );
}

/** In pixels from the chart's upper left corner. */
interface IPoint {
  readonly x: number;
  readonly y: number;
}

function usePalette(
  host: React.RefObject<HTMLElement>
): React.MutableRefObject<Palette | null> {
  const palette = React.useRef<Palette | null>(null);
  React.useLayoutEffect(() => {
    palette.current = new Palette(host.current!);
    return () => palette.current?.dispose();
  }, []);
  return palette;
}

/** Merges calls in quick succession into one in the next frame, with the latest arguments. */
function useFrame(draw: () => void): () => void {
  const latest = React.useRef(draw);
  latest.current = draw;
  const frame = React.useRef(0);
  React.useEffect(() => () => cancelAnimationFrame(frame.current), []);
  return React.useCallback(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => latest.current());
  }, []);
}
