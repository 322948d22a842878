import * as React from 'react';

/**
 * A row: what it is of, and a cell for each variant.
 */
export interface IVariantRow {
  readonly head: React.ReactNode;
  readonly cells: readonly React.ReactNode[];

  /**
   * Whether torch did something else than was asked for.
   */
  readonly differs?: boolean;
}

/**
 * A table with a column for each variant; if there is little room, the variants are
 * stacked. The roles are explicit, as elements with another layout lose theirs.
 */
export function VariantTable(props: {
  /**
   * What the rows are.
   */
  head: string;
  label: string;

  /**
   * What the columns are called.
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
