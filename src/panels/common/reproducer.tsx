import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { download } from '../../download';
import { isActive } from '../../model/jobs';
import { problemOf } from '../../protocol/client';
import type {
  Problem,
  ReproducerFile,
  ReproducerResult
} from '../../protocol/types';
import type { IReproduced } from '../../interfaces/subject';
import { stepText } from '../../words/jobs';
import type { IViewContext } from '../views';
import { CodeBlock } from './copy';
import { ProblemCard } from './states/problemCard';

/**
 * The polling interval while the program is tried, in milliseconds.
 */
const POLL_MS = 700;

/**
 * The standalone program of a kernel or graph: written and tried when this is
 * shown, then offered.
 */
export function ReproducerPart(props: {
  part: IReproduced;
  context: IViewContext;
}): JSX.Element {
  const { part, context } = props;
  const { model, trans } = context;
  const [result, setResult] = React.useState<ReproducerResult | null>(null);
  const [problem, setProblem] = React.useState<Problem | null>(null);
  const [round, setRound] = React.useState(0);
  const key = JSON.stringify([model.subject, part]);
  React.useEffect(() => {
    let isOpen = true;
    let timer = 0;
    const request = async (restart: boolean): Promise<void> => {
      try {
        const answer = await model.getReproducer(part, restart);
        if (!isOpen) {
          return;
        }
        setResult(answer);
        if (isActive(answer.job)) {
          timer = window.setTimeout(() => void request(false), POLL_MS);
        }
      } catch (error) {
        if (isOpen) {
          setProblem(problemOf(error));
        }
      }
    };
    setResult(null);
    setProblem(null);
    void request(round > 0);
    return () => {
      isOpen = false;
      window.clearTimeout(timer);
    };
    // `part` is a new object at each rendering; the key identifies it.
  }, [key, round]);
  const job = result?.job ?? null;
  const failure = problem ?? job?.error ?? null;
  const isBusy = !problem && (!job || isActive(job));
  return (
    <div className="jp-Compilescope-reproducer" aria-busy={isBusy}>
      <p role="status">
        {isBusy
          ? job
            ? stepText(job, trans)
            : trans.__('Loading…')
          : result?.reproducer
            ? result.reproducer.outcome
            : job?.state === 'cancelled'
              ? trans.__('Canceled.')
              : ''}
        {isBusy && job && (
          <button
            type="button"
            className="jp-Compilescope-button"
            onClick={() =>
              model
                .cancelReproducer(job.id)
                .catch(error => setProblem(problemOf(error)))
            }
          >
            {trans.__('Cancel')}
          </button>
        )}
        {!isBusy && (
          <button
            type="button"
            className="jp-Compilescope-button"
            onClick={() => setRound(round + 1)}
          >
            {trans.__('Try again')}
          </button>
        )}
      </p>
      {failure && <ProblemCard problem={failure} trans={trans} />}
      {result?.reproducer && (
        <Program program={result.reproducer} trans={trans} />
      )}
    </div>
  );
}

function Program(props: {
  program: ReproducerFile;
  trans: TranslationBundle;
}): JSX.Element {
  const { program, trans } = props;
  const { filename, code, why, output } = program;
  return (
    <>
      {why && <p>{why}</p>}
      {output.trim() && (
        <pre tabIndex={0} aria-label={trans.__('Output of the program')}>
          {output.trim()}
        </pre>
      )}
      <button
        type="button"
        className="jp-Compilescope-button"
        onClick={() => download(filename, code)}
      >
        {trans.__('Download %1', filename)}
      </button>
      <CodeBlock
        code={code}
        label={trans.__('Standalone program')}
        trans={trans}
      />
    </>
  );
}
