import * as React from 'react';
import type { ShapeSymbol } from '../../../protocol/types';
import { SourceLink } from '../../common';
import type { IViewContext } from '../../views';

/**
 * The symbols of a compilation, each with what it stands for.
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
        className="jp-Compilescope-failures"
        aria-label={trans.__('Symbols of dynamic sizes')}
      >
        <thead>
          <tr>
            <th scope="col">{trans.__('Symbol')}</th>
            <th scope="col">{trans.__('Stands for')}</th>
            <th scope="col">{trans.__('Compiled with')}</th>
            <th scope="col">{trans.__('Range')}</th>
            <th scope="col">{trans.__('Line')}</th>
          </tr>
        </thead>
        <tbody>
          {symbols.map(({ name, source, value, range, stack }, index) => (
            <tr key={index}>
              <th scope="row">
                <code>{name}</code>
              </th>
              <td>
                {source ? (
                  <code>{source}</code>
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
          ))}
        </tbody>
      </table>
    </div>
  );
}
