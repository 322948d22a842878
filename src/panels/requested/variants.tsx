import * as React from 'react';

/**
 * A row: its title, and a cell for each variant.
 */
export interface IVariantRow {
  readonly head: React.ReactNode;
  readonly cells: readonly React.ReactNode[];

  /**
   * Whether torch deviated from the request.
   */
  readonly differs?: boolean;
}

/**
 * A table with a column for each variant; if space is limited, the variants are
 * stacked. The roles are explicit, because elements with another layout lose
 * theirs.
 */
export function VariantTable(props: {
  /**
   * The heading of the rows' titles.
   */
  head: string;
  label: string;

  /**
   * The titles of the columns.
   */
  variants: readonly { readonly name: string }[];
  rows: readonly IVariantRow[];
}): JSX.Element {
  const { variants, rows } = props;
  return (
    <div className="jp-Compilescope-requestedWide">
      <table
        className="jp-Compilescope-settings"
        role="table"
        aria-label={props.label}
      >
        <thead role="rowgroup">
          <tr role="row">
            <th scope="col" role="columnheader">
              {props.head}
            </th>
            {variants.map(({ name }) => (
              <th key={name} scope="col" role="columnheader">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map(({ head, cells, differs }, index) => (
            <tr
              key={index}
              role="row"
              className={differs ? 'jp-mod-differs' : undefined}
            >
              <th scope="row" role="rowheader">
                {head}
              </th>
              {cells.map((cell, column) => (
                <td
                  key={column}
                  role="cell"
                  data-variant={variants[column].name}
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
