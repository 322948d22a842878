import * as React from 'react';
import type { LostTime } from '../../protocol/types';
import { formatSeconds } from '../../words/format';
import { SourceLink } from '../common';
import type { IViewContext } from '../views';
import { Prose } from '../common/prose';
import { CompilationLink } from './link';

/**
 * The maximum number of compilations that are named for a loss.
 */
const MAX_COMPILATIONS = 4;

/**
 * Avoidable compile time, the longest first.
 *
 * @param props.isOfMany - Whether the trace has several processes.
 */
export function Losses(props: {
  losses: readonly LostTime[];
  isOfMany: boolean;
  context: IViewContext;
}): JSX.Element {
  const { losses, isOfMany, context } = props;
  const { trans } = context;
  const hasRecompiles = losses.some(({ kind }) => kind === 'recompiles');
  return (
    <section>
      <h3>{trans.__('What to change first, by avoidable compile time')}</h3>
      {hasRecompiles && (
        <p className="jp-Compilescope-hint">
          {trans.__('A recompile’s id leads to the code to change.')}
        </p>
      )}
      <ol>
        {losses.map((loss, index) => (
          <li key={index}>
            <strong>
              {loss.seconds
                ? formatSeconds(loss.seconds)
                : trans.__('not measured')}
            </strong>{' '}
            {loss.what}{' '}
            {loss.where && <SourceLink where={loss.where} context={context} />}
            {loss.why && (
              <p>
                <Prose text={loss.why} />
              </p>
            )}
            {loss.remedy && (
              <p>
                <Prose text={loss.remedy} />
              </p>
            )}
            <p>
              {isOfMany && `${loss.process}: `}
              {loss.compilations.slice(0, MAX_COMPILATIONS).map(id => (
                <React.Fragment key={id}>
                  <CompilationLink
                    process={loss.process}
                    id={id}
                    context={context}
                    view={loss.kind === 'failure' ? 'overview' : 'recompiles'}
                  />{' '}
                </React.Fragment>
              ))}
              {loss.compilations.length > MAX_COMPILATIONS &&
                trans.__(
                  'and %1 more',
                  loss.compilations.length - MAX_COMPILATIONS
                )}
            </p>
          </li>
        ))}
      </ol>
    </section>
  );
}
