import * as React from 'react';
import { ScrollableTable } from '../study';

/**
 * The head of a column of figures or of words.
 */
export interface IHead {
  /**
   * None if the column is drawn: then `spoken` names it.
   */
  readonly label?: React.ReactNode;
  readonly spoken?: string;
  readonly title?: string;
  readonly isNumber?: boolean;
  readonly className?: string;

  /**
   * The number of columns that it spans.
   */
  readonly span?: number;
}

/**
 * The heads of columns in order: a text, a head, or nothing for an omitted
 * column.
 */
export type Heads = readonly (string | IHead | false)[];

/**
 * The row of heads of a table.
 */
export function TableHead(props: { heads: Heads }): JSX.Element {
  return (
    <thead>
      <tr>
        {props.heads.map((entry, index) => {
          if (entry === false) {
            return null;
          }
          const head = typeof entry === 'string' ? { label: entry } : entry;
          return head.label === undefined && head.spoken === undefined ? (
            <td key={index} />
          ) : (
            <th
              key={index}
              scope="col"
              className={
                head.className ?? (head.isNumber ? 'jp-mod-number' : undefined)
              }
              colSpan={head.span}
              title={head.title}
              aria-label={head.spoken}
            >
              {head.label}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/**
 * A table of figures with one header row, which may be wider than the view.
 *
 * @param props.name - Distinguishes its styles from those of other tables.
 * @param props.caption - The accessible name of the table.
 * @param props.children - The rows.
 * @param props.foot - The footer rows: sums.
 */
export function Figures(props: {
  label: string;
  name?: string;
  caption?: string;
  heads: Heads;
  children: React.ReactNode;
  foot?: React.ReactNode;
}): JSX.Element {
  const { label, name, caption, heads, foot } = props;
  const modifier = name ? ` jp-mod-${name}` : '';
  return (
    <ScrollableTable label={label}>
      <table className={`jp-Compilescope-figures${modifier}`}>
        {caption && (
          <caption className="jp-Compilescope-hidden">{caption}</caption>
        )}
        <TableHead heads={heads} />
        <tbody>{props.children}</tbody>
        {foot && <tfoot>{foot}</tfoot>}
      </table>
    </ScrollableTable>
  );
}
