import * as React from 'react';
import type { Failure, SourceLine } from '../../../protocol/types';
import { SourceLink } from '../../common';
import type { IViewContext } from '../../views';
import { mergeFailures, placeOf, shortValue, subjectOf } from './frames';
import { TableHead } from '../../common/tables/figures';

/**
 * What failed, old and new value side by side.
 */
export function Failures(props: {
  failures: readonly Failure[];

  /**
   * Where the frame begins.
   */
  frame: SourceLine | null;
  context: IViewContext;
  view: object;

  /**
   * Shows a guard among its compilation's.
   */
  onGuards: (compilation: string) => void;
}): JSX.Element {
  const { failures, frame, context, view, onGuards } = props;
  const { trans } = context;
  return (
    <div className="jp-Compilescope-scroll">
      <table
        className="jp-Compilescope-failures"
        aria-label={trans.__('What failed')}
      >
        <TableHead
          heads={[
            trans.__('What'),
            trans.__('Was'),
            trans.__('Is now'),
            trans.__('Guard of'),
            trans.__('From')
          ]}
        />
        <tbody>
          {mergeFailures(
            failures.map(failure => ({
              ...failure,
              where: placeOf(failure, frame)
            }))
          ).map(({ failure, compilations }, index) => (
            <tr key={index}>
              <th scope="row" title={failure.guard}>
                <code>{subjectOf(failure)}</code>
              </th>
              <td className="jp-mod-old">
                <code>{shortValue(failure.old)}</code>
              </td>
              <td className="jp-mod-new">
                <code>{shortValue(failure.new)}</code>
              </td>
              <td>
                {compilations.map(id => (
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
                {failure.where && (
                  <SourceLink
                    where={failure.where}
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
