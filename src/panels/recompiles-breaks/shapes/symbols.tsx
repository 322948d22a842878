import * as React from 'react';
import type { ShapeSymbol } from '../../../protocol/types';
import { SourceLink } from '../../common';
import type { IViewContext } from '../../views';
import { TableHead } from '../../common/tables/figures';

/**
 * The symbols of a compilation, each with its meaning.
 */
export function Symbols(props: {
  symbols: readonly ShapeSymbol[];
  context: IViewContext;
  view: object;
}): JSX.Element {
  const { symbols, context, view } = props;
  const { trans } = context;
  return (
    <div className="jp-Compilescope-scroll jp-Compilescope-symbols">
      <table
        className="jp-Compilescope-values"
        aria-label={trans.__('Symbols of dynamic sizes')}
      >
        <TableHead
          heads={[
            trans.__('Symbol'),
            trans.__('Stands for'),
            trans.__('Compiled with'),
            trans.__('Range'),
            trans.__('Line')
          ]}
        />
        <tbody>
          {symbols.map(
            ({ name, source, other_sources, value, range, stack }, index) => (
              <tr key={index}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>
                  {source ? (
                    <code>{[source, ...other_sources].join(', ')}</code>
                  ) : (
                    <span
                      title={trans.__('Known only when the compiled code runs')}
                    >
                      {trans.__('unbacked')}
                    </span>
                  )}
                </td>
                <td>{value}</td>
                <td>
                  <code>{range}</code>
                </td>
                <td>
                  {stack.length > 0 && (
                    <SourceLink
                      where={stack[stack.length - 1]}
                      context={context}
                      origin={view}
                    />
                  )}
                </td>
              </tr>
            )
          )}
        </tbody>
      </table>
    </div>
  );
}
