import * as React from 'react';
import { ScrollableTable } from '../study';

/**
 * The head of a column of figures, or of words.
 */
export interface IHead {
  /**
   * None where the column is drawn: then `spoken` says what it is.
   */
  readonly label?: React.ReactNode;
  readonly spoken?: string;
  readonly title?: string;
  readonly isNumber?: boolean;
  readonly className?: string;

  /**
   * How many columns it stands over.
   */
  readonly span?: number;
}

/**
 * Heads of columns in their order: a text, more than that, or nothing where the
 * column is left out.
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
 * A table of figures with one row of heads, which may be wider than the view.
 *
 * @param props.name - Sets its looks apart from other tables'.
 * @param props.caption - What a screen reader calls the table.
 * @param props.children - The rows.
 * @param props.foot - The rows below: sums.
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
