import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { GHOST } from '../../../graph/diff/ghosts';
import { shapeText, shortTarget } from '../../../graph/labels';
import type { IPrepared } from '../../../graph/prepare';
import { useRows } from '../../common';
import { describe } from '../drawing/tooltip';

/**
 * The graph as a tree of texts for screen readers: groups and nodes in the
 * order of execution. Groups that are open in the drawing are open here.
 */
export function Outline(props: {
  prepared: IPrepared;
  open: ReadonlySet<string>;
  focus: number | null;
  label: string;
  trans: TranslationBundle;
  onToggle: (item: number) => void;
  onChoose: (item: number) => void;
}): JSX.Element {
  const { prepared, open, focus, trans, onToggle, onChoose } = props;
  const { graph, grouping } = prepared;
  const count = graph.nodes.length;
  const id = React.useId();
  const rows = React.useMemo(
    () => outlineRows(prepared, open),
    [prepared, open]
  );
  const [active, setActive] = React.useState(-1);
  const list = useRows({
    count: rows.length,
    rowHeight: 22,
    active,
    onActive: setActive
  });
  React.useEffect(() => {
    const at = rows.findIndex(row => row.item === focus);
    if (at >= 0) {
      setActive(at);
      list.reveal(at);
    }
  }, [focus, rows]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (list.onKey(event)) {
      return;
    }
    const row = rows[active];
    if (!row) {
      return;
    }
    const isGroup = row.item >= count;
    const isOpen = isGroup && open.has(grouping.groups[row.item - count].id);
    if (event.key === 'Enter' || event.key === ' ') {
      onChoose(row.item);
    } else if (event.key === 'ArrowRight') {
      if (isGroup && !isOpen) {
        onToggle(row.item);
      } else if (isGroup) {
        setActive(Math.min(rows.length - 1, active + 1));
      }
    } else if (event.key === 'ArrowLeft') {
      if (isOpen) {
        onToggle(row.item);
      } else {
        const parent = rows
          .slice(0, active)
          .map(outlineRow => outlineRow.depth)
          .lastIndexOf(row.depth - 1);
        setActive(parent >= 0 ? parent : active);
      }
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <div
      ref={list.ref}
      className="jp-Compilescope-graph-outline"
      role="tree"
      aria-label={props.label}
      aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div style={{ height: list.height }} role="presentation">
        {list.visible.map(({ index, start }) => {
          const { item, depth, place, size } = rows[index];
          const isGroup = item >= count;
          const group = grouping.groups[item - count];
          const node = graph.nodes[item];
          return (
            <div
              key={item}
              id={`${id}-${index}`}
              role="treeitem"
              aria-level={depth + 1}
              aria-posinset={place}
              aria-setsize={size}
              aria-expanded={isGroup ? open.has(group.id) : undefined}
              aria-selected={item === focus}
              aria-label={describe(prepared, item, open, trans)}
              className={index === active ? 'jp-mod-active' : undefined}
              style={{
                transform: `translateY(${start}px)`,
                paddingLeft: 6 + 12 * depth
              }}
              onClick={() => {
                setActive(index);
                onChoose(item);
              }}
              onDoubleClick={() => isGroup && onToggle(item)}
            >
              {isGroup ? (
                <>
                  <span
                    className="jp-Compilescope-graph-twist"
                    onClick={event => {
                      event.stopPropagation();
                      onToggle(item);
                    }}
                  >
                    {open.has(group.id) ? '▾' : '▸'}
                  </span>
                  <strong>{group.label}</strong>
                  <small>
                    {[group.type, group.size].filter(Boolean).join(' · ')}
                  </small>
                </>
              ) : (
                <>
                  <span>{node.name.replace(GHOST, '− ')}</span>
                  <small>
                    {[shortTarget(node), shapeText(node)]
                      .filter(Boolean)
                      .join(' · ')}
                  </small>
                </>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/**
 * A line of the outline.
 */
export interface IOutlineRow {
  readonly item: number;
  readonly depth: number;

  /**
   * Its position in its group, starting at 1, and the size of the group.
   */
  readonly place: number;
  readonly size: number;
}

/**
 * The lines of the outline, with the content of open groups.
 */
function outlineRows(
  { graph, grouping }: IPrepared,
  open: ReadonlySet<string>
): IOutlineRow[] {
  const count = graph.nodes.length;
  const rows: IOutlineRow[] = [];
  const add = (group: number, depth: number) => {
    const { nodes, groups } = grouping.groups[group];
    const items = [...nodes, ...groups.map(child => count + child)].sort(
      (a, b) => placeOf(a) - placeOf(b)
    );
    items.forEach((item, i) => {
      rows.push({ item, depth, place: i + 1, size: items.length });
      if (item >= count && open.has(grouping.groups[item - count].id)) {
        add(item - count, depth + 1);
      }
    });
  };
  const placeOf = (item: number) =>
    item < count ? grouping.place[item] : grouping.groupPlace[item - count];
  add(0, 0);
  return rows;
}
