import * as React from 'react';
import { problemOf } from '../../protocol/client';
import type { SearchResult } from '../../protocol/types';
import { SearchField } from '../common';
import type { IViewContext } from '../views';
import { CompilationLink } from './link';
import { formatCount } from '../../words/format';

/**
 * The result of a search.
 */
interface ISearchOutcome {
  readonly text: string;
  readonly result: SearchResult | null;
  readonly error: string;
}

/**
 * Searches everything that torch logged for all compilations.
 */
export function Search(props: { context: IViewContext }): JSX.Element {
  const { context } = props;
  const { model, trans } = context;
  const [text, setText] = React.useState('');
  const [answer, setFound] = React.useState<ISearchOutcome | null>(null);
  const search = async () => {
    setFound({ text, result: null, error: '' });
    let done: ISearchOutcome;
    try {
      done = { text, result: await model.search(text), error: '' };
    } catch (error) {
      done = { text, result: null, error: problemOf(error).what };
    }
    setFound(now => (now?.text === text ? done : now));
  };
  return (
    <section>
      <h3>{trans.__('Search in all texts')}</h3>
      <form
        className="jp-Compilescope-traceControls"
        onSubmit={event => {
          event.preventDefault();
          void search();
        }}
      >
        <SearchField
          label={trans.__('Graphs, code, guards, metrics, …')}
          value={text}
          onChange={setText}
        />
        <button
          type="submit"
          className="jp-Compilescope-button"
          disabled={!text}
        >
          {trans.__('Search')}
        </button>
      </form>
      <div role="status">{answer && words(answer, context)}</div>
      {answer?.result && (
        <ul aria-label={trans.__('Matching lines')}>
          {answer.result.hits.map((hit, index) => (
            <li key={index}>
              <CompilationLink
                process={hit.variant}
                id={hit.compilation}
                context={context}
              >
                {`${hit.variant} ${hit.compilation}`}
              </CompilationLink>{' '}
              {trans.__('%1, line %2', hit.name, hit.line)}
              <br />
              <code>{hit.text}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function words(
  { text, result, error }: ISearchOutcome,
  { trans }: IViewContext
): string {
  if (error) {
    return error;
  }
  if (!result) {
    return trans.__('Searching for “%1”…', text);
  }
  const count = formatCount(result.hits.length);
  return result.is_cut
    ? trans.__('The first %1 lines with “%2”', count, text)
    : trans._n(
        '%3 line with “%2”',
        '%3 lines with “%2”',
        result.hits.length,
        text,
        count
      );
}
