import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Problem } from '../../../protocol/types';
import { Prose } from '../prose';
import { Elapsed } from './elapsed';
import { ProblemCard } from './problemCard';

/**
 * Why there is nothing to show, and what to do.
 */
export interface IEmpty {
  readonly what: string;
  readonly why?: string;

  /**
   * The action that would fill it; a function if it changes while the view
   * stays empty.
   */
  readonly remedy?: string | (() => string | undefined);

  /**
   * Whether an empty view is good news.
   */
  readonly isGood?: boolean;

  /**
   * Where there is data instead.
   */
  readonly elsewhere?: React.ReactNode;
}

/**
 * The four states of a view.
 */
export type ViewState<T> =
  | {
      readonly kind: 'loading';
      readonly label: string;

      /**
       * When it began (`Date.now()`); by default, when it is first shown.
       */
      readonly since?: number;
    }
  | ({ readonly kind: 'empty' } & IEmpty)
  | { readonly kind: 'error'; readonly problem: Problem }
  | { readonly kind: 'data'; readonly data: T };

/**
 * A view in one of its four states.
 */
export function ViewFrame<T>(props: {
  state: ViewState<T>;
  trans: TranslationBundle;
  show: (data: T) => React.ReactNode;
  onRetry?: () => void;
}): JSX.Element {
  const { state, trans, onRetry } = props;
  switch (state.kind) {
    case 'loading':
      return (
        <div className="jp-Compilescope-loading jp-mod-late" role="status">
          <span className="jp-Compilescope-spinner" aria-hidden="true" />
          <span>{state.label}</span>
          <Elapsed key={state.label} since={state.since} trans={trans} />
        </div>
      );
    case 'empty':
      return <Empty {...state} />;
    case 'error':
      return (
        <div className="jp-Compilescope-failure" role="alert">
          <ProblemCard problem={state.problem} trans={trans} />
          {onRetry && (
            <button
              type="button"
              className="jp-Compilescope-button"
              onClick={onRetry}
            >
              {trans.__('Try again')}
            </button>
          )}
        </div>
      );
    case 'data':
      return <>{props.show(state.data)}</>;
  }
}

/**
 * An empty view: why there is nothing to show, and what to do.
 */
export function Empty(props: IEmpty): JSX.Element {
  const remedy =
    typeof props.remedy === 'function' ? props.remedy() : props.remedy;
  return (
    <div
      className={`jp-Compilescope-empty${props.isGood ? ' jp-mod-good' : ''}`}
      role="status"
    >
      <p className="jp-Compilescope-emptyWhat">{props.what}</p>
      {props.why && (
        <p>
          <Prose text={props.why} />
        </p>
      )}
      {remedy && (
        <p className="jp-Compilescope-remedy">
          <Prose text={remedy} />
        </p>
      )}
      {props.elsewhere}
    </div>
  );
}

/**
 * A value that torch did not provide, in a table or a line: a dash with the
 * reason.
 */
export function AbsentValue(props: { why: string }): JSX.Element {
  return (
    <span
      className="jp-Compilescope-absent"
      role="img"
      title={props.why}
      aria-label={props.why}
    >
      –
    </span>
  );
}
