import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { TABLES, type TableName } from '../../../words/tables';
import type { IHead } from './figures';
import type { IColumn } from './table';

export type ColumnId<N extends TableName> = Extract<
  keyof ReturnType<(typeof TABLES)[N]>,
  string
>;

/**
 * A column as `kernel/compilescope/views/rows/` declares it.
 */
interface IDeclared {
  readonly title: string;
  readonly note?: string;
  readonly kind: 'words' | 'figure' | 'drawing';
}

/**
 * Additions to a declared head of a table of figures; false omits the column.
 */
type HeadChange = Partial<IHead> | false;

/**
 * Additions to a declared column of a table of any length; false omits it.
 */
export type ColumnChange<T> =
  (Pick<IColumn<T>, 'width' | 'render'> & Partial<IColumn<T>>) | false;

function columnsOf<N extends TableName>(
  table: N,
  trans: TranslationBundle
): readonly (readonly [ColumnId<N>, IDeclared])[] {
  const columns: Record<string, IDeclared> = TABLES[table](trans);
  return Object.entries(columns) as [ColumnId<N>, IDeclared][];
}

/**
 * The heads of a declared table, in its order.
 *
 * @param changes - The differences here: an omitted column, or a title that
 * depends on the report.
 */
export function declaredHeads<N extends TableName>(
  table: N,
  trans: TranslationBundle,
  changes: Partial<Record<ColumnId<N>, HeadChange>> = {}
): readonly (IHead | false)[] {
  return columnsOf(table, trans).map(([id, { title, note, kind }]) => {
    const change = changes[id] ?? {};
    return (
      change && {
        ...(kind === 'drawing' ? { spoken: title } : { label: title }),
        title: note,
        isNumber: kind === 'figure',
        ...change
      }
    );
  });
}

/**
 * The cells of a row, in the order of the table's columns.
 *
 * @param props.cells - Whole cells, `<td>` or `<th>`; false for an omitted
 * column.
 */
export function DeclaredCells<N extends TableName>(props: {
  table: N;
  cells: Record<ColumnId<N>, JSX.Element | false>;
  trans: TranslationBundle;
}): JSX.Element {
  const { table, cells, trans } = props;
  return (
    <>
      {columnsOf(table, trans).map(([id]) => (
        <React.Fragment key={id}>{cells[id]}</React.Fragment>
      ))}
    </>
  );
}

/**
 * The columns of a declared table of any length, in its order.
 */
export function declaredColumns<T, N extends TableName>(
  table: N,
  trans: TranslationBundle,
  changes: Record<ColumnId<N>, ColumnChange<T>>
): IColumn<T>[] {
  return columnsOf(table, trans).flatMap(([id, { title, note, kind }]) => {
    const change: ColumnChange<T> = changes[id];
    const declared = { id, label: title, title: note };
    return change
      ? [{ ...declared, isNumber: kind === 'figure', ...change }]
      : [];
  });
}
