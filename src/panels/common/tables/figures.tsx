import * as React from 'react';
import { Wide } from '../study';

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
}

/**
 * A table of figures with one row of heads, which may be wider than the view.
 *
 * @param props.name - Sets its looks apart from other tables'.
 * @param props.caption - What a screen reader calls the table.
 * @param props.children - The rows.
 */
export function Figures(props: {
  label: string;
  name?: string;
  caption?: string;
  heads: readonly IHead[];
  children: React.ReactNode;
}): JSX.Element {
  const { label, name, caption, heads } = props;
  const own = name ? ` jp-mod-${name}` : '';
  return (
    <Wide label={label}>
      <table className={`jp-Compilescope-figures${own}`}>
        {caption && (
          <caption className="jp-Compilescope-hidden">{caption}</caption>
        )}
        <thead>
          <tr>
            {heads.map((head, index) => (
              <th
                key={index}
                scope="col"
                className={head.isNumber ? 'jp-mod-number' : undefined}
                title={head.title}
                aria-label={head.spoken}
              >
                {head.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </Wide>
  );
}
