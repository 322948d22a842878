import * as React from 'react';
import type { Compilation } from '../../../protocol/types';
import { useRows, useWidth } from '../../common';
import { formatCount, formatPlace, formatSeconds } from '../../../words/format';
import { frameName } from '../../../words/frames';
import type { IViewContext } from '../../views';
import type { IFrame } from './frames';
import { reasonOf } from './frames';
import type { IMark } from './layout';
import { layOut } from './layout';

const ROW_HEIGHT = 46;

/**
 * Compilations in chronological order, with a row for each frame. The arrow
 * keys move along a frame, and between frames.
 */
export function Timeline(props: {
  frames: readonly IFrame[];
  selected: string;
  onSelect: (id: string) => void;

  /**
   * The variant of the frames.
   */
  variant: string;
  context: IViewContext;
}): JSX.Element {
  const { frames, selected, onSelect, variant, context } = props;
  const { trans } = context;
  const id = React.useId();
  const ruler = React.useRef<HTMLDivElement>(null);
  const width = useWidth(ruler);
  const timeline = React.useMemo(
    () => layOut(frames, Math.max(width, 100)),
    [frames, width]
  );
  const row = frames.findIndex(frame =>
    frame.compilations.some(compilation => compilation.id === selected)
  );
  const list = useRows({
    count: frames.length,
    rowHeight: ROW_HEIGHT,
    active: row,
    onActive: index => onSelect(nearest(timeline.rows, row, selected, index))
  });
  React.useEffect(() => list.reveal(row), [row]);
  return (
    <div
      ref={list.ref}
      className="jp-Compilescope-timeline"
      role="grid"
      aria-label={trans.__('Compilations by frame, in chronological order')}
      aria-rowcount={frames.length}
      aria-activedescendant={row >= 0 ? `${id}-${selected}` : undefined}
      tabIndex={0}
      onKeyDown={event => {
        if (event.target !== event.currentTarget || list.onKey(event)) {
          return;
        }
        const step =
          event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        const ofRow = frames[row]?.compilations ?? [];
        const place = ofRow.findIndex(
          compilation => compilation.id === selected
        );
        const next = ofRow[place + step] as Compilation | undefined;
        if (step && next) {
          event.preventDefault();
          onSelect(next.id);
        }
      }}
    >
      <div
        className="jp-Compilescope-timelineBody"
        role="none"
        style={{ height: list.height }}
      >
        <div
          ref={ruler}
          className="jp-Compilescope-timelineRuler"
          aria-hidden="true"
        />
        {list.visible.map(({ index, start }) => (
          <div
            key={frames[index].key}
            className="jp-Compilescope-frame"
            role="row"
            aria-rowindex={index + 1}
            style={{ transform: `translateY(${start}px)` }}
          >
            <FrameName
              variant={variant}
              frame={frames[index]}
              context={context}
            />
            <div
              className="jp-Compilescope-track"
              role="none"
              style={{ width: timeline.width }}
            >
              {timeline.rows[index].map(mark => (
                <Mark
                  key={mark.compilation.id}
                  id={`${id}-${mark.compilation.id}`}
                  mark={mark}
                  isSelected={mark.compilation.id === selected}
                  onSelect={onSelect}
                  context={context}
                />
              ))}
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}

function FrameName(props: {
  frame: IFrame;
  variant: string;
  context: IViewContext;
}): JSX.Element {
  const { frame, variant, context } = props;
  const { trans, model } = context;
  const { where, compilations, key } = frame;
  const name =
    frameName(model, variant, compilations[0].id) || trans.__('frame %1', key);
  const place = where
    ? formatPlace(where, model.report?.files ?? {}, trans)
    : '';
  // What torch refused at its limit was not compiled.
  const compiled = compilations.filter(
    ({ recompile }) => !recompile?.eager_fallback
  ).length;
  return (
    <div
      className="jp-Compilescope-frameName"
      role="rowheader"
      title={
        where ? `${where.function}\n${where.file}:${where.line}` : undefined
      }
    >
      <strong>{name}</strong>
      <span className="jp-Compilescope-muted">
        {place && `${place} · `}
        {trans._n(
          'compiled once',
          'compiled %2 times',
          compiled,
          formatCount(compiled)
        )}
      </span>
    </div>
  );
}

function Mark(props: {
  id: string;
  mark: IMark;
  isSelected: boolean;
  onSelect: (id: string) => void;
  context: IViewContext;
}): JSX.Element {
  const { mark, isSelected, onSelect, context } = props;
  const { compilation, left, width, room } = mark;
  const { id, recompile } = compilation;
  const reason = reasonOf(compilation);
  const kind = !recompile ? 'first' : recompile.at_limit ? 'limit' : 'again';
  const label = markLabel(compilation, context);
  return (
    <div
      id={props.id}
      className={`jp-Compilescope-mark jp-mod-${kind}`}
      role="gridcell"
      aria-selected={isSelected}
      aria-label={label}
      title={label}
      style={{ left, width: Math.max(width, room) }}
      onClick={() => onSelect(compilation.id)}
    >
      <span className="jp-Compilescope-markBar" style={{ width }} />
      <span className="jp-Compilescope-markText">
        {id}
        {reason && <span> {reason}</span>}
      </span>
    </div>
  );
}

function markLabel(compilation: Compilation, { trans }: IViewContext): string {
  const { id, recompile, duration_s } = compilation;
  const reason = reasonOf(compilation);
  const what = !recompile
    ? trans.__('%1, the first compilation', id)
    : reason
      ? trans.__('%1, recompiled: %2', id, reason)
      : trans.__('%1, recompiled', id);
  return duration_s === null ? what : `${what}, ${formatSeconds(duration_s)}`;
}

/**
 * The compilation of another frame that is nearest in time.
 */
function nearest(
  rows: readonly (readonly IMark[])[],
  from: number,
  selected: string,
  to: number
): string {
  const current = rows[from]?.find(mark => mark.compilation.id === selected);
  const distance = (mark: IMark) => Math.abs(mark.left - (current?.left ?? 0));
  return rows[to].reduce((best, mark) =>
    distance(mark) < distance(best) ? mark : best
  ).compilation.id;
}
