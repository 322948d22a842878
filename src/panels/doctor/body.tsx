import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { problemOf } from '../../protocol/client';
import type { CheckupResult, Problem } from '../../protocol/types';
import { CheckList } from './list';

/**
 * The polling interval while checks run, in milliseconds.
 */
const POLL_MS = 700;

/**
 * A checkup that is filled as checks finish, and a button to repeat it.
 */
export function CheckupBody(props: {
  request: (restart: boolean) => Promise<CheckupResult>;
  trans: TranslationBundle;
}): JSX.Element {
  const { request, trans } = props;
  const [result, setResult] = React.useState<CheckupResult | null>(null);
  const [problem, setProblem] = React.useState<Problem | null>(null);
  const [round, setRound] = React.useState(0);
  React.useEffect(() => {
    let isOpen = true;
    let timer = 0;
    const next = async (restart: boolean): Promise<void> => {
      try {
        const answer = await request(restart);
        if (!isOpen) {
          return;
        }
        setResult(answer);
        if (answer.checkup.waiting.length) {
          timer = window.setTimeout(() => void next(false), POLL_MS);
        }
      } catch (error) {
        if (isOpen) {
          setProblem(problemOf(error));
        }
      }
    };
    setProblem(null);
    void next(true);
    return () => {
      isOpen = false;
      window.clearTimeout(timer);
    };
  }, [request, round]);
  const isBusy = !problem && (!result || result.checkup.waiting.length > 0);
  return (
    <div className="jp-Compilescope-doctor-body" aria-busy={isBusy}>
      <div className="jp-Compilescope-doctor-head">
        <span role="status">
          {result
            ? result.summary
            : problem
              ? ''
              : trans.__('Running the checks…')}
        </span>
        <button
          className="jp-mod-styled jp-mod-minimal"
          disabled={isBusy}
          onClick={() => setRound(round + 1)}
        >
          {trans.__('Check Again')}
        </button>
      </div>
      {problem && (
        <p className="jp-Compilescope-doctor-failed" role="alert">
          {[problem.what, problem.why, problem.remedy]
            .filter(Boolean)
            .join(' ')}
        </p>
      )}
      {result && <CheckList checkup={result.checkup} trans={trans} />}
    </div>
  );
}
