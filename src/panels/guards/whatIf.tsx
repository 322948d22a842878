import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { GuardOutcome } from '../../protocol/types';
import { Badge } from '../common';
import { Outcome, VerdictBadge } from './outcome';
import type { ITry } from './tries';
import { ProblemCard } from '../common/states/problemCard';
import { nameOf } from '../../words/arguments';

/**
 * Which guards would fail for other arguments: a field for the arguments of a
 * call, the verdict, and earlier tries.
 */
export function WhatIf(props: {
  /**
   * The report's own call, one line per argument: `x: float32[4, 8] cpu`.
   */
  args: readonly string[];
  name: string;
  tries: readonly ITry[];

  /**
   * Why nothing can be tried; empty if it can.
   */
  off: string;
  onTry: (args: string) => void;
  onGoTo: (outcome: GuardOutcome, args: ITry) => void;

  /**
   * The text that is selected in the notebook; null without a notebook.
   */
  selectedText: (() => string) | null;
  trans: TranslationBundle;
}): JSX.Element {
  const { args, name, tries, off, onTry, selectedText, trans } = props;
  const [text, setText] = React.useState('');
  const field = React.useRef<HTMLInputElement>(null);
  const id = React.useId();
  const names = args.map(nameOf).filter(Boolean);
  const insert = (piece: string) => {
    const node = field.current!;
    const from = node.selectionStart ?? text.length;
    const to = node.selectionEnd ?? text.length;
    const before = text.slice(0, from);
    const comma = /[^,(\s]\s*$/.test(before) ? ', ' : '';
    setText(before + comma + piece + text.slice(to));
    node.focus();
  };
  const [last, ...earlier] = tries;
  return (
    <section
      className="jp-Compilescope-whatIf"
      aria-label={trans.__('What if it were called with other arguments')}
    >
      <form
        onSubmit={event => {
          event.preventDefault();
          if (text.trim() && !off) {
            onTry(text.trim());
          }
        }}
      >
        <label htmlFor={id}>{trans.__('What if')}</label>
        <span className="jp-Compilescope-call">
          <code aria-hidden="true">{name}(</code>
          <input
            ref={field}
            id={id}
            type="text"
            value={text}
            list={`${id}-known`}
            disabled={!!off}
            placeholder={placeholderOf(names, trans)}
            aria-label={trans.__('Other arguments, as in a call of %1', name)}
            aria-describedby={`${id}-hint`}
            autoComplete="off"
            spellCheck={false}
            onChange={event => setText(event.currentTarget.value)}
          />
          <code aria-hidden="true">)</code>
        </span>
        <datalist id={`${id}-known`}>
          {[
            ...new Set([
              ...tries.map(attempt => attempt.args),
              names.join(', ')
            ])
          ]
            .filter(Boolean)
            .map(option => (
              <option key={option} value={option} />
            ))}
        </datalist>
        <button
          type="submit"
          className="jp-Compilescope-button jp-mod-accept"
          disabled={!!off || !text.trim()}
        >
          {trans.__('Try')}
        </button>
        {selectedText && (
          <button
            type="button"
            className="jp-Compilescope-button"
            title={trans.__('Use the text selected in the notebook cell')}
            disabled={!!off}
            onClick={() => {
              const piece = selectedText().trim();
              if (piece) {
                insert(piece.replace(/\s*\n\s*/g, ' '));
              }
            }}
          >
            {trans.__('Use the selection')}
          </button>
        )}
      </form>
      <p id={`${id}-hint`} className="jp-Compilescope-muted">
        {off || (
          <>
            {trans.__(
              'Only the guards are checked: nothing is run or compiled.'
            )}{' '}
            {args.length > 0 && trans.__('The report’s call:')}{' '}
            {args.map((arg, index) => (
              <button
                key={index}
                type="button"
                className="jp-Compilescope-argument"
                title={trans.__('Insert %1', nameOf(arg) || arg)}
                onClick={() => insert(nameOf(arg) || arg)}
              >
                {arg}
              </button>
            ))}
          </>
        )}
      </p>
      {last && <WhatIfAnswer tried={last} {...props} />}
      {earlier.length > 0 && (
        <details className="jp-Compilescope-earlier">
          <summary>
            {trans._n('%1 earlier try', '%1 earlier tries', earlier.length)}
          </summary>
          <ul>
            {earlier.map(attempt => (
              <li key={attempt.id}>
                <button
                  type="button"
                  className="jp-Compilescope-link jp-mod-code"
                  title={trans.__('Try it again')}
                  disabled={!!off}
                  onClick={() => {
                    setText(attempt.args);
                    onTry(attempt.args);
                  }}
                >
                  {attempt.args}
                </button>
                <EarlierTry tried={attempt} trans={trans} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function WhatIfAnswer(props: {
  tried: ITry;
  onGoTo: (outcome: GuardOutcome, tried: ITry) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { tried, onGoTo, trans } = props;
  return (
    <div className="jp-Compilescope-answer" role="status">
      <code className="jp-Compilescope-tried">{tried.args}</code>
      {tried.problem ? (
        <ProblemCard problem={tried.problem} trans={trans} />
      ) : tried.result ? (
        <Outcome
          result={tried.result}
          onGoTo={outcome => onGoTo(outcome, tried)}
          trans={trans}
        />
      ) : (
        <p className="jp-Compilescope-muted">
          {trans.__('Checking the guards…')}
        </p>
      )}
    </div>
  );
}

function EarlierTry(props: {
  tried: ITry;
  trans: TranslationBundle;
}): JSX.Element {
  const { tried, trans } = props;
  if (tried.problem) {
    return <Badge kind="error">{trans.__('Error')}</Badge>;
  }
  if (!tried.result) {
    return <Badge>{trans.__('Checking…')}</Badge>;
  }
  return <VerdictBadge result={tried.result} />;
}

function placeholderOf(
  names: readonly string[],
  trans: TranslationBundle
): string {
  return names.length > 0
    ? trans.__(
        'for example %1',
        [`${names[0]}[:2]`, ...names.slice(1)].join(', ')
      )
    : trans.__('arguments, as in a call');
}
