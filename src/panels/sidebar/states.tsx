import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Elapsed } from '../common/states/elapsed';
import { CodeBlock } from '../common/copy';
import type { IPartProps } from './types';
import { ProblemCard } from '../common/states/problemCard';

const LOAD = '%load_ext compilescope';
const CELL = '%%compile\nf(x)';
const INSTALL = 'pip install jupyterlab-compilescope';

/**
 * Shown while there is no report.
 */
export function Blank(props: IPartProps): JSX.Element {
  const { state, actions, trans } = props;
  const { status } = state;
  switch (status.kind) {
    case 'none':
      return (
        <Message title={trans.__('No kernel')}>
          <p>
            {trans.__('Open a notebook or a console with a Python kernel.')}
          </p>
        </Message>
      );
    case 'connecting':
      return (
        <Loading label={trans.__('Connecting to the kernel')} trans={trans} />
      );
    case 'busy':
      return (
        <Loading
          label={trans.__('Kernel busy, queued: continues after its cell')}
          trans={trans}
        />
      );
    case 'missing':
      return (
        <Message
          title={trans.__('compilescope is not installed in this kernel')}
        >
          <p>{trans.__('Install it in the kernel’s environment:')}</p>
          <CodeBlock code={INSTALL} trans={trans} />
          <Button label={trans.__('Check again')} onClick={actions.retry} />
        </Message>
      );
    case 'unloaded':
      return (
        <Message title={trans.__('compilescope is not loaded in this kernel')}>
          <CodeBlock code={LOAD} trans={trans} />
          <Button
            label={trans.__('Load compilescope')}
            onClick={actions.load}
            isPrimary
          />
          {state.problem && (
            <ProblemCard problem={state.problem} trans={trans} />
          )}
        </Message>
      );
    case 'unsupported':
      return (
        <Message title={trans.__('Not a Python kernel')}>
          <p>
            {trans.__(
              'torch.compile is Python; this kernel’s language is %1.',
              status.language ?? ''
            )}
          </p>
        </Message>
      );
    case 'dead':
      return (
        <Message title={trans.__('The kernel is gone')}>
          <p>{trans.__('Restart it, then run the cell again.')}</p>
        </Message>
      );
    case 'error':
      return (
        <Message title={trans.__('The kernel could not answer')}>
          {status.problem && (
            <ProblemCard problem={status.problem} trans={trans} />
          )}
          <Button label={trans.__('Try again')} onClick={actions.retry} />
        </Message>
      );
    case 'ready':
      return (
        <Message title={trans.__('Nothing inspected yet')}>
          <p>
            {trans.__(
              'Put %1 at the top of a cell that ends with the call to inspect:',
              '%%compile'
            )}
          </p>
          <CodeBlock code={CELL} trans={trans} />
          <p>
            {trans.__(
              'Its variants and verdict appear here, and its report beside the notebook.'
            )}
          </p>
        </Message>
      );
  }
}

/**
 * A strip above the last report while it is not live.
 */
export function Strip({
  state,
  actions,
  trans
}: IPartProps): JSX.Element | null {
  const { status } = state;
  const restarted = trans.__(
    'The kernel was restarted: this report predates it.'
  );
  const texts: Partial<Record<typeof status.kind, string>> = {
    none: trans.__('No kernel: this is the last report.'),
    connecting: status.isRestart
      ? restarted
      : trans.__('Connecting to the kernel…'),
    busy: trans.__('Kernel busy, queued'),
    dead: trans.__('The kernel is gone: this is its last report.'),
    missing: trans.__(
      'This kernel lacks compilescope: this is the last report.'
    ),
    unloaded: restarted,
    unsupported: trans.__('Not a Python kernel.'),
    error: status.problem?.what ?? trans.__('The kernel could not answer.')
  };
  const text = texts[status.kind] ?? (state.isKept ? restarted : undefined);
  return text === undefined ? null : (
    <div
      className={`jp-Compilescope-strip jp-mod-${status.kind}`}
      role="status"
    >
      <span>{text}</span>
      {status.kind === 'error' && (
        <Button label={trans.__('Try again')} onClick={actions.retry} />
      )}
      {status.kind === 'unloaded' && (
        <Button label={trans.__('Load')} onClick={actions.load} />
      )}
      {state.canRunAgain && (
        <Button label={trans.__('Run again')} onClick={actions.runAgain} />
      )}
    </div>
  );
}

/**
 * Shown while something is loading.
 */
export function Loading(props: {
  label: string;
  trans: TranslationBundle;
}): JSX.Element {
  return (
    <div className="jp-Compilescope-loading" role="status">
      <span className="jp-Compilescope-spinner" aria-hidden="true" />
      <span>{props.label}</span>
      <Elapsed key={props.label} trans={props.trans} />
    </div>
  );
}

function Message(props: {
  title: string;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <div className="jp-Compilescope-message">
      <h3>{props.title}</h3>
      {props.children}
    </div>
  );
}

function Button(props: {
  label: string;
  onClick: () => void;
  isPrimary?: boolean;
}): JSX.Element {
  return (
    <button
      type="button"
      className={`jp-Compilescope-button${props.isPrimary ? ' jp-mod-accept' : ''}`}
      onClick={props.onClick}
    >
      {props.label}
    </button>
  );
}
