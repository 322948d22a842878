import * as React from 'react';
import type { Count, Overview, Variant } from '../../protocol/types';
import type { IViewContext } from '../views';
import { LimitCard, WrapperCard } from './cards';
import { reveal } from '../common/source';
import { ProblemCard } from '../common/states/problemCard';
import { joined, ViewLink } from '../common/viewLink';
import { Results } from './results';
import { Suggestions } from './suggestions';

/**
 * The answer first: the result, the reason, what to change, what happened.
 * Every part links to the view with the details.
 */
export function OverviewBody(props: {
  overview: Overview;
  context: IViewContext;
  onTry: (variant: Variant) => void;
}): JSX.Element {
  const { overview, context } = props;
  const { wrapper, limit, suggestions, counts } = overview;
  const { trans } = context;
  const note = overview.needed_import &&
    !context.model.isLive &&
    !context.runAgain && (
      <p className="jp-Compilescope-muted">
        {trans.__('The calls named here need')}{' '}
        <code>{overview.needed_import}</code>
      </p>
    );
  return (
    <div className="jp-Compilescope-overviewBody">
      <Head {...props} />
      {overview.failure && (
        <ProblemCard
          problem={overview.failure}
          files={context.model.report?.files}
          onGoTo={where => reveal(context, where)}
          trans={trans}
        />
      )}
      <Results overview={overview} context={context} />
      {(wrapper || limit) && (
        <div className="jp-Compilescope-overviewCards">
          {wrapper && (
            <WrapperCard
              answer={wrapper}
              context={context}
              onTry={props.onTry}
            />
          )}
          {limit && <LimitCard limit={limit} context={context} />}
        </div>
      )}
      {suggestions.length > 0 ? (
        <Suggestions
          note={note}
          suggestions={suggestions}
          context={context}
          onTry={props.onTry}
        />
      ) : (
        note
      )}
      {counts.length > 0 && (
        <section
          className="jp-Compilescope-happened"
          aria-label={trans.__('What happened')}
        >
          <h3>{trans.__('What happened')}</h3>
          <ul>
            {counts.map(count => (
              <Fact key={count.text} count={count} context={context} />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Head(props: {
  overview: Overview;
  context: IViewContext;
}): JSX.Element {
  const { overview, context } = props;
  const subject = context.model.report?.subject;
  return (
    <header>
      {subject && (
        <p className="jp-Compilescope-overviewSubject">
          <span title={subject.arguments.join('\n')}>
            <strong>{subject.name}</strong>{' '}
            <code>{subject.arguments.join(', ')}</code>
          </span>
          <span className="jp-Compilescope-muted" title={overview.environment}>
            {overview.device}
          </span>
        </p>
      )}
      <h2>{joined(overview.headline)}</h2>
    </header>
  );
}

function Fact(props: { count: Count; context: IViewContext }): JSX.Element {
  const { count, context } = props;
  return (
    <li>
      <ViewLink view={count.view} of={count.of} context={context}>
        <span
          className={count.warning ? 'jp-mod-warning' : undefined}
          title={count.why || undefined}
        >
          {joined(count.text)}
        </span>
      </ViewLink>
    </li>
  );
}
