import * as React from 'react';
import { isKernelBusy } from '../../model/jobs';
import {
  STUDIES,
  SUGGESTIONS_TITLE,
  type StudyName
} from '../../protocol/types';
import type { Suggestion, Variant } from '../../protocol/types';
import type { IViewContext } from '../views';
import { CopyCode } from '../common/copy';
import { Prose } from '../common/prose';
import { SourceLink } from '../common/source';
import { joined, ViewLink } from '../common/viewLink';
import { TryButton } from './tryButton';

/**
 * What to change, the largest gain first.
 *
 * @param note - Shown beside the title.
 */
export function Suggestions(props: {
  note: React.ReactNode;
  suggestions: readonly Suggestion[];
  context: IViewContext;
  onTry: (variant: Variant) => void;
}): JSX.Element {
  const { note, suggestions, context, onTry } = props;
  return (
    <section
      className="jp-Compilescope-suggestions"
      aria-label={SUGGESTIONS_TITLE}
    >
      <header>
        <h3>{SUGGESTIONS_TITLE}</h3>
        {note}
      </header>
      <ol>
        {suggestions.map((suggestion, index) => (
          <li key={index}>
            <Item suggestion={suggestion} context={context} onTry={onTry} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Item(props: {
  suggestion: Suggestion;
  context: IViewContext;
  onTry: (variant: Variant) => void;
}): JSX.Element {
  const { suggestion, context } = props;
  const { what, why, gain, basis, code, place, lines, requested, trial } =
    suggestion;
  const { trans } = context;
  return (
    <>
      <div className="jp-Compilescope-overviewWhat">
        <span>
          <Prose text={what} />
        </span>
        {lines.length > 0 && (
          <ul className="jp-Compilescope-suggestionLines">
            {lines.map(where => (
              <li key={`${where.file}:${where.line}`}>
                <SourceLink where={where} context={context} />
              </li>
            ))}
          </ul>
        )}
        {(why || place) && (
          <small>
            {why && <Prose text={why} />}
            {why && place && ' '}
            {place && trans.__('Paste the code %1.', place)}
          </small>
        )}
      </div>
      <div className={`jp-Compilescope-gain jp-mod-${basis}`}>
        {joined(gain)}
        {basis !== 'unknown' && (
          <small>
            {' '}
            {basis === 'measured'
              ? trans.__('measured')
              : trans.__('estimated')}
          </small>
        )}
      </div>
      <div className="jp-Compilescope-do">
        {code && <CopyCode code={code} trans={trans} />}
        {requested && (
          <TryButton
            requested={requested}
            label={trial ? trans.__('Try %1', trial) : trans.__('Try it')}
            className="jp-Compilescope-link"
            context={context}
            onTry={props.onTry}
          />
        )}
        <StudyTrial suggestion={suggestion} context={context} />
        <SuggestionLink {...props} />
      </div>
    </>
  );
}

/**
 * Runs the study that tries a change which no variant can have. A report from a
 * file has no such button.
 */
function StudyTrial(props: {
  suggestion: Suggestion;
  context: IViewContext;
}): JSX.Element | null {
  const { suggestion, context } = props;
  const { model, trans } = context;
  const name = suggestion.study;
  if (!model.isLive || !isStudy(name)) {
    return null;
  }
  const { summary, duration } = STUDIES[name];
  return (
    <button
      type="button"
      className="jp-Compilescope-link"
      title={trans.__('%1; takes %2.', summary, duration)}
      disabled={isKernelBusy(model.job) || model.status.kind !== 'ready'}
      onClick={() => void model.startStudies([name], [suggestion.of])}
    >
      {trans.__('Try it')}
    </button>
  );
}

function isStudy(name: string): name is StudyName {
  return name in STUDIES;
}

/**
 * A link to the variant with the change, or else to the view with the details.
 */
function SuggestionLink(props: {
  suggestion: Suggestion;
  context: IViewContext;
}): JSX.Element | null {
  const { suggestion, context } = props;
  const { variant, view, of, compilation } = suggestion;
  const { model, trans } = context;
  if (variant) {
    return (
      <button
        type="button"
        className="jp-Compilescope-link"
        title={trans.__('Show the variant %1', variant)}
        onClick={() => {
          model.showVariant(variant);
          context.open('changes');
        }}
      >
        {trans.__('Show')}
      </button>
    );
  }
  return view ? (
    <ViewLink view={view} of={of} compilation={compilation} context={context}>
      {trans.__('Show')}
    </ViewLink>
  ) : null;
}
