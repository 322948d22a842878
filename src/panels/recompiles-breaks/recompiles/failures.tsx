import * as React from 'react';
import type { RecompileCause } from '../../../protocol/types';
import { SourceLink } from '../../common';
import type { IViewContext } from '../../views';
import { TableHead } from '../../common/tables/figures';

/**
 * What failed, old and new value side by side. For guards whose compilations
 * are not in the report, the text is shown.
 */
export function Failures(props: {
  causes: readonly RecompileCause[];
  context: IViewContext;
  view: object;

  /**
   * Shows a guard among those of its compilation.
   */
  onGuards: (compilation: string) => void;
}): JSX.Element {
  const { causes, context, view, onGuards } = props;
  const { trans } = context;
  const isOfReport = causes.some(({ compilations }) => compilations.length > 0);
  return (
    <div className="jp-Compilescope-scroll">
      <table
        className="jp-Compilescope-values jp-Compilescope-failures"
        aria-label={trans.__('What failed')}
      >
        <TableHead
          heads={[
            trans.__('What'),
            trans.__('Was'),
            trans.__('Is now'),
            isOfReport ? trans.__('Guard of') : trans.__('Guard'),
            trans.__('From')
          ]}
        />
        <tbody>
          {causes.map((cause, index) => (
            <tr key={index}>
              <th scope="row" title={cause.guard}>
                <code>{cause.subject}</code>
              </th>
              <td className="jp-mod-old">
                <code>{cause.was}</code>
              </td>
              <td className="jp-mod-new">
                <code>{cause.now}</code>
              </td>
              <td>
                {!isOfReport && <code>{cause.guard}</code>}
                {cause.compilations.map(id => (
                  <React.Fragment key={id}>
                    <button
                      type="button"
                      className="jp-Compilescope-link jp-mod-code"
                      title={trans.__('Show the guards of %1', id)}
                      onClick={() => onGuards(id)}
                    >
                      {id}
                    </button>{' '}
                  </React.Fragment>
                ))}
              </td>
              <td>
                {cause.where && (
                  <SourceLink
                    where={cause.where}
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
