import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { IColumn } from './table';
import { useRows, useWidth } from './rows';

/**
 * A row of a tree as drawn: nodes inside folded ones have none.
 */
export interface ITreeItem<T> {
  readonly key: string;

  /**
   * The depth, starting at 1.
   */
  readonly level: number;

  /**
   * Null for a leaf.
   */
  readonly isOpen: boolean | null;

  /**
   * Its position among its siblings, starting at 1, and their number.
   */
  readonly place: number;
  readonly siblings: number;
  readonly content: T;
}

const ROW_HEIGHT = 24;
const HEADER_HEIGHT = 26;

/**
 * A tree of any size: only the visible rows are drawn. The keys are those of
 * ARIA's tree pattern: up and down, right to enter or unfold, left to leave or
 * fold.
 */
export function VirtualTree<T>(props: {
  label: string;
  items: readonly ITreeItem<T>[];

  /**
   * The first column is the tree itself; it takes the width that the others
   * leave.
   */
  columns: readonly IColumn<T>[];
  onToggle: (item: ITreeItem<T>, open: boolean) => void;
  onSelect: (item: ITreeItem<T>) => void;
  selected: string | null;
  isMarked?: (content: T) => boolean;

  /**
   * When this changes, and is not null, the first marked row is scrolled into
   * view.
   */
  revealKey?: object | null;
  none?: React.ReactNode;
  trans: TranslationBundle;
}): JSX.Element {
  const { items, selected, onToggle, onSelect } = props;
  const id = React.useId();
  const [active, setActive] = React.useState<string | null>(null);
  const current = active ?? selected;
  const place = React.useMemo(
    () => items.findIndex(treeItem => treeItem.key === current),
    [items, current]
  );
  const list = useRows({
    count: items.length,
    rowHeight: ROW_HEIGHT,
    active: place,
    onActive: index => setActive(items[index].key),
    headerHeight: HEADER_HEIGHT
  });
  React.useEffect(() => {
    setActive(null);
    list.reveal(items.findIndex(treeItem => treeItem.key === selected));
  }, [selected]);
  const { revealKey = null, isMarked } = props;
  React.useEffect(() => {
    if (revealKey && isMarked) {
      list.reveal(items.findIndex(treeItem => isMarked(treeItem.content)));
    }
  }, [revealKey]);
  const width = useWidth(list.ref);
  const columns = props.columns.filter(
    column => width === 0 || width >= (column.from ?? 0)
  );
  const template = columns.map(column => column.width).join(' ');
  const goTo = (index: number) => {
    if (index >= 0) {
      setActive(items[index].key);
      list.reveal(index);
    }
  };
  const onKey = (event: React.KeyboardEvent) => {
    const item = items[place] as ITreeItem<T> | undefined;
    switch (item ? event.key : '') {
      case 'ArrowRight':
        if (item!.isOpen === false) {
          onToggle(item!, true);
        } else if (item!.isOpen) {
          goTo(place + 1);
        }
        break;
      case 'ArrowLeft':
        if (item!.isOpen) {
          onToggle(item!, false);
        } else {
          goTo(parentOf(items, place));
        }
        break;
      case 'Enter':
      case ' ':
        onSelect(item!);
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  return (
    <div
      ref={list.ref}
      className="jp-Compilescope-table jp-Compilescope-tree"
      role="tree"
      aria-label={props.label}
      aria-activedescendant={place >= 0 ? `${id}-${place}` : undefined}
      tabIndex={0}
      onKeyDown={event => {
        if (event.target === event.currentTarget && !list.onKey(event)) {
          onKey(event);
        }
      }}
    >
      <div
        className="jp-Compilescope-tableHeader"
        style={{ gridTemplateColumns: template }}
        aria-hidden="true"
      >
        {columns.map(column => (
          <div
            key={column.id}
            className={column.isNumber ? 'jp-mod-number' : undefined}
            title={column.title}
          >
            {column.label}
          </div>
        ))}
      </div>
      {items.length === 0 ? (
        <div className="jp-Compilescope-tableNone">{props.none}</div>
      ) : (
        <div
          className="jp-Compilescope-tableBody"
          role="none"
          style={{ height: list.height }}
        >
          {list.visible.map(({ index, start }) => {
            const item = items[index];
            const isMarked = props.isMarked?.(item.content) ?? false;
            return (
              <div
                key={item.key}
                id={`${id}-${index}`}
                className={
                  'jp-Compilescope-tableRow' +
                  (index === place ? ' jp-mod-active' : '') +
                  (isMarked ? ' jp-mod-marked' : '')
                }
                role="treeitem"
                aria-level={item.level}
                aria-expanded={item.isOpen ?? undefined}
                aria-setsize={item.siblings}
                aria-posinset={item.place}
                aria-selected={item.key === selected}
                style={{
                  gridTemplateColumns: template,
                  transform: `translateY(${start}px)`
                }}
                onClick={() => {
                  setActive(item.key);
                  onSelect(item);
                }}
                onDoubleClick={() => {
                  if (item.isOpen !== null) {
                    onToggle(item, !item.isOpen);
                  }
                }}
              >
                {columns.map((column, nth) =>
                  nth === 0 ? (
                    <div
                      key={column.id}
                      className="jp-Compilescope-treeCell"
                      style={{ paddingLeft: indent(item.level, width) }}
                    >
                      <Twisty item={item} onToggle={onToggle} />
                      <span>{column.render(item.content)}</span>
                    </div>
                  ) : (
                    <div
                      key={column.id}
                      className={column.isNumber ? 'jp-mod-number' : undefined}
                    >
                      {column.render(item.content)}
                    </div>
                  )
                )}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}

/**
 * Folds and unfolds with the mouse; the keyboard has the arrow keys.
 */
function Twisty<T>(props: {
  item: ITreeItem<T>;
  onToggle: (item: ITreeItem<T>, open: boolean) => void;
}): JSX.Element {
  const { item, onToggle } = props;
  if (item.isOpen === null) {
    return <span className="jp-Compilescope-twisty" />;
  }
  const Caret = item.isOpen ? caretDownIcon : caretRightIcon;
  return (
    <span
      className="jp-Compilescope-twisty"
      onClick={event => {
        event.stopPropagation();
        onToggle(item, !item.isOpen);
      }}
      onDoubleClick={event => event.stopPropagation()}
    >
      <Caret.react tag="span" width="16px" height="16px" />
    </span>
  );
}

/**
 * Deep rows remain readable if space is limited.
 */
function indent(level: number, width: number): number {
  const step = width > 0 && width < 500 ? 6 : 14;
  const most = width > 0 ? width * 0.4 : Infinity;
  return Math.min((level - 1) * step, most);
}

function parentOf<T>(items: readonly ITreeItem<T>[], index: number): number {
  const { level } = items[index];
  for (let place = index - 1; place >= 0; place--) {
    if (items[place].level < level) {
      return place;
    }
  }
  return -1;
}
