import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownIcon, caretUpIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { useRows, useWidth } from './rows';

/**
 * A column of a table.
 */
export interface IColumn<T> {
  readonly id: string;
  readonly label: string;
  readonly title?: string;

  /**
   * A track of a CSS grid: `80px`, `minmax(120px, 2fr)`.
   */
  readonly width: string;

  /**
   * The text of its cells, if it may be long: the column is then as wide as the
   * longest of them, if there is enough space, and the rest of the space goes
   * to columns without it.
   */
  readonly text?: (row: T) => string;
  readonly isNumber?: boolean;
  readonly render: (row: T) => React.ReactNode;

  /**
   * The order of its rows, if it can be sorted.
   */
  readonly compare?: (a: T, b: T) => number;

  /**
   * Whether the first click sorts in descending order, as numbers do.
   */
  readonly isDescendingFirst?: boolean;

  /**
   * If the table is narrower than this, in pixels, the column is omitted.
   */
  readonly from?: number;

  /**
   * Whether a row has a value in it; see `filled`.
   */
  readonly hasValue?: (row: T) => boolean;
}

/**
 * The columns in which at least one row has a value.
 */
export function filled<T>(
  columns: readonly IColumn<T>[],
  rows: readonly T[]
): readonly IColumn<T>[] {
  return columns.filter(({ hasValue }) => !hasValue || rows.some(hasValue));
}

/**
 * The column by which rows are sorted; null for the original order.
 */
export type Sort = { readonly column: string; readonly down: boolean } | null;

const ROW_HEIGHT = 24;
const HEADER_HEIGHT = 26;

/**
 * Characters added to the length of the text, as fonts differ.
 */
const EXTRA_CHARACTERS = 2;

/**
 * A table of any length: only the visible rows are drawn. Rows are navigated
 * with the arrow keys, and selected with Enter or a click.
 */
export function VirtualTable<T>(props: {
  label: string;
  columns: readonly IColumn<T>[];

  /**
   * In display order: see `sorted`.
   */
  rows: readonly T[];

  /**
   * The rows that determine the columns' widths, if a filter changes the shown
   * rows.
   */
  all?: readonly T[];
  keyOf: (row: T) => string | number;
  sort: Sort;
  onSort: (sort: Sort) => void;
  trans: TranslationBundle;

  /**
   * The key of the selected row.
   */
  selected?: string | number | null;
  onSelect?: (row: T) => void;

  /**
   * Whether a row belongs to what is selected elsewhere.
   */
  isMarked?: (row: T) => boolean;

  /**
   * Whether a line separates a row from the one above it.
   */
  startsGroup?: (row: T, above: T) => boolean;

  /**
   * When this changes, and is not null, the first marked row is scrolled into
   * view.
   */
  revealKey?: object | null;

  /**
   * Shown instead of rows if there are none.
   */
  none?: React.ReactNode;
}): JSX.Element {
  const { rows, keyOf, sort, selected = null, trans } = props;
  const id = React.useId();
  const [active, setActive] = React.useState<string | number | null>(null);
  const current = active ?? selected;
  const place = React.useMemo(
    () => (current === null ? -1 : rows.findIndex(r => keyOf(r) === current)),
    [rows, current]
  );
  const list = useRows({
    count: rows.length,
    rowHeight: ROW_HEIGHT,
    active: place,
    onActive: index => setActive(keyOf(rows[index])),
    headerHeight: HEADER_HEIGHT
  });
  React.useEffect(() => {
    setActive(null);
    const index = rows.findIndex(row => keyOf(row) === selected);
    if (selected !== null && index >= 0) {
      list.reveal(index);
    }
  }, [selected]);
  const { revealKey = null, isMarked: marks } = props;
  React.useEffect(() => {
    if (revealKey && marks) {
      list.reveal(rows.findIndex(marks));
    }
  }, [revealKey]);
  const width = useWidth(list.ref);
  const columns = props.columns.filter(
    column => width === 0 || width >= (column.from ?? 0)
  );
  const measured = props.all ?? rows;
  const lengths = React.useMemo(
    () => lengthsOf(props.columns, measured),
    [props.columns.map(({ id }) => id).join(), measured]
  );
  const template = tracksOf(columns, lengths);
  const choose = (row: T) => {
    setActive(keyOf(row));
    props.onSelect?.(row);
  };
  return (
    <div
      ref={list.ref}
      className="jp-Compilescope-table"
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={place >= 0 ? `${id}-${place}` : undefined}
      tabIndex={0}
      onKeyDown={event => {
        if (event.target !== event.currentTarget || list.onKey(event)) {
          return;
        }
        if ((event.key === 'Enter' || event.key === ' ') && place >= 0) {
          event.preventDefault();
          choose(rows[place]);
        }
      }}
    >
      <div
        className="jp-Compilescope-tableHeader"
        role="row"
        aria-rowindex={1}
        style={{ gridTemplateColumns: template }}
      >
        {columns.map(column => (
          <Header
            key={column.id}
            column={column}
            sort={sort}
            onSort={props.onSort}
            trans={trans}
          />
        ))}
      </div>
      {rows.length === 0 ? (
        <div className="jp-Compilescope-tableNone">{props.none}</div>
      ) : (
        <div
          className="jp-Compilescope-tableBody"
          role="rowgroup"
          style={{ height: list.height }}
        >
          {list.visible.map(({ index, start }) => {
            const row = rows[index];
            const key = keyOf(row);
            const isMarked = props.isMarked?.(row) ?? false;
            const isFirst =
              index > 0 && (props.startsGroup?.(row, rows[index - 1]) ?? false);
            return (
              <div
                key={key}
                id={`${id}-${index}`}
                className={
                  'jp-Compilescope-tableRow' +
                  (index === place ? ' jp-mod-active' : '') +
                  (isMarked ? ' jp-mod-marked' : '') +
                  (isFirst ? ' jp-mod-first' : '')
                }
                role="row"
                aria-rowindex={index + 2}
                aria-selected={key === selected}
                style={{
                  gridTemplateColumns: template,
                  transform: `translateY(${start}px)`
                }}
                onClick={() => choose(row)}
              >
                {columns.map(column => (
                  <div
                    key={column.id}
                    role="gridcell"
                    className={column.isNumber ? 'jp-mod-number' : undefined}
                  >
                    {column.render(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}

/**
 * The maximum number of characters in the cells of each column, by the column's
 * id: for columns as wide as their text.
 */
export function lengthsOf<T>(
  columns: readonly IColumn<T>[],
  rows: readonly T[]
): ReadonlyMap<string, number> {
  const lengths = new Map<string, number>();
  for (const { id, label, text } of columns) {
    if (text) {
      lengths.set(
        id,
        rows.reduce((max, row) => Math.max(max, text(row).length), label.length)
      );
    }
  }
  return lengths;
}

/**
 * The tracks of a table's grid. A grid allots space to tracks with a maximum
 * width before it divides the rest among the `fr` tracks, of which at least one
 * is kept.
 */
export function tracksOf<T>(
  columns: readonly IColumn<T>[],
  lengths: ReadonlyMap<string, number>
): string {
  const divides = ({ width }: IColumn<T>) => width.includes('fr');
  const isDivided = columns.some(
    column => divides(column) && !lengths.has(column.id)
  );
  const rest = isDivided ? undefined : columns.find(divides);
  return columns
    .map(column => {
      const { id, width } = column;
      const length = lengths.get(id);
      const [, least] = /^minmax\((\d+px)/.exec(width) ?? [];
      if (length === undefined || least === undefined || column === rest) {
        return width;
      }
      // The letters of a table are about as wide as its digits.
      const most = `${length + EXTRA_CHARACTERS}ch`;
      return `minmax(min(${least}, ${most}), ${most})`;
    })
    .join(' ');
}

/**
 * Rows in the order requested from the table; rows that compare equal keep
 * their order.
 */
export function sorted<T>(
  rows: readonly T[],
  columns: readonly IColumn<T>[],
  sort: Sort
): readonly T[] {
  const compare = columns.find(column => column.id === sort?.column)?.compare;
  if (!sort || !compare) {
    return rows;
  }
  const sign = sort.down ? -1 : 1;
  return [...rows].sort((a, b) => sign * compare(a, b));
}

/**
 * Compares numbers that may be missing; a missing one counts as less.
 */
export function compareNumbers(a: number | null, b: number | null): number {
  return (a ?? -Infinity) === (b ?? -Infinity)
    ? 0
    : (a ?? -Infinity) - (b ?? -Infinity);
}

function Header<T>(props: {
  column: IColumn<T>;
  sort: Sort;
  onSort: (sort: Sort) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { column, sort, onSort, trans } = props;
  const isSorted = sort?.column === column.id;
  const down = column.isDescendingFirst ?? !!column.isNumber;
  const Caret = isSorted && sort.down ? caretDownIcon : caretUpIcon;
  return (
    <div
      role="columnheader"
      aria-sort={
        isSorted ? (sort.down ? 'descending' : 'ascending') : undefined
      }
      className={column.isNumber ? 'jp-mod-number' : undefined}
      title={column.title}
    >
      {column.compare ? (
        <button
          type="button"
          title={column.title ?? trans.__('Sort by %1', column.label)}
          onClick={() =>
            // The second click reverses the order, the third restores the original
            // one.
            onSort(
              !isSorted
                ? { column: column.id, down }
                : sort.down === down
                  ? { column: column.id, down: !down }
                  : null
            )
          }
        >
          <span>{column.label}</span>
          {isSorted && <Caret.react tag="span" width="12px" height="12px" />}
        </button>
      ) : (
        <span>{column.label}</span>
      )}
    </div>
  );
}
