import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type {
  CompilationChange,
  CompilationLine,
  FigureChange,
  ProcessDifference,
  TimeChange,
  TraceDifference
} from '../../protocol/types';
import { formatCount, formatPlace, formatSeconds } from '../../words/format';
import { Badge } from '../common';
import type { IViewContext } from '../views';
import { CompilationLink } from './link';
import { TableHead } from '../common/tables/figures';

/**
 * The maximum number of items of each kind that are listed.
 */
const MAX_ROWS = 50;

/**
 * The differences between two traces, process by process.
 */
export function Difference(props: {
  difference: TraceDifference;
  context: IViewContext;
}): JSX.Element {
  const { difference, context } = props;
  const { trans } = context;
  const { shown, only_before, only_after } = difference;
  return (
    <>
      {difference.processes.map(process => (
        <Process
          key={process.before}
          process={process}
          shown={shown}
          isNamed={difference.processes.length > 1}
          context={context}
        />
      ))}
      {only_before.length > 0 && (
        <p>{trans.__('Only before: %1', only_before.join(', '))}</p>
      )}
      {only_after.length > 0 && (
        <p>{trans.__('Only after: %1', only_after.join(', '))}</p>
      )}
    </>
  );
}

type Side = TraceDifference['shown'];

function Process(props: {
  process: ProcessDifference;
  shown: Side;
  isNamed: boolean;
  context: IViewContext;
}): JSX.Element {
  const { process, shown, isNamed, context } = props;
  const { trans } = context;
  const id = (before: string, after: string) => (
    <IdPair
      before={before}
      after={after}
      process={process[shown]}
      shown={shown}
      context={context}
    />
  );
  return (
    <div className="jp-Compilescope-traceDifference">
      {isNamed && <h4>{nameOf(process)}</h4>}
      <Figures process={process} trans={trans} />
      {process.notes.map(note => (
        <p key={note}>{note}</p>
      ))}
      <Lines
        title={trans.__('Newly compiled')}
        lines={process.new}
        side="after"
        id={id}
        context={context}
      />
      <Lines
        title={trans.__('No longer compiled')}
        lines={process.gone}
        side="before"
        id={id}
        context={context}
      />
      <Times
        title={trans.__('Slower to compile')}
        times={process.slower}
        id={id}
        trans={trans}
      />
      <Times
        title={trans.__('Faster to compile')}
        times={process.faster}
        id={id}
        trans={trans}
      />
      <Listing
        title={trans.__('Compiled to different code')}
        of={process.changed}
        trans={trans}
        className="jp-Compilescope-rankDifferences"
      >
        {(compilationChange, index) => (
          <Change
            key={index}
            change={compilationChange}
            id={id}
            trans={trans}
          />
        )}
      </Listing>
    </div>
  );
}

function nameOf({ before, after }: ProcessDifference): string {
  return before === after ? after : `${before} → ${after}`;
}

type Id = (before: string, after: string) => JSX.Element;

/**
 * A compilation's ids in both traces; the id in the shown trace is a link.
 */
function IdPair(props: {
  before: string;
  after: string;
  process: string;
  shown: Side;
  context: IViewContext;
}): JSX.Element {
  const { before, after, process, shown, context } = props;
  const side = (id: string, isShown: boolean) =>
    isShown ? (
      <CompilationLink process={process} id={id} context={context} />
    ) : (
      <code>{id}</code>
    );
  return before === after ? (
    side(after, true)
  ) : (
    <>
      {before && side(before, shown === 'before')}
      {before && after && ' → '}
      {after && side(after, shown === 'after')}
    </>
  );
}

function Figures(props: {
  process: ProcessDifference;
  trans: TranslationBundle;
}): JSX.Element {
  const { process, trans } = props;
  const { compile_time_s: times } = process;
  const row = ({ name, before, after }: FigureChange, of = '') => (
    <tr key={name}>
      <th scope="row">{of ? trans.__('%1 (%2)', name, of) : name}</th>
      <td>{formatCount(before)}</td>
      <td>{formatCount(after)}</td>
      <td>{after !== before && signed(after - before)}</td>
    </tr>
  );
  return (
    <table
      className="jp-Compilescope-traceFigures"
      aria-label={trans.__('Before and after')}
    >
      <TableHead
        heads={[{}, trans.__('Before'), trans.__('After'), trans.__('Change')]}
      />
      <tbody>
        {process.figures.map(figure => row(figure))}
        {process.in_changed.map(figureChange =>
          row(figureChange, trans.__('where something differs'))
        )}
        {times.some(time => time > 0) && (
          <tr>
            <th scope="row">{trans.__('compile time, measured once')}</th>
            <td>{formatSeconds(times[0])}</td>
            <td>{formatSeconds(times[1])}</td>
            <td />
          </tr>
        )}
      </tbody>
    </table>
  );
}

function signed(change: number): string {
  return change > 0 ? `+${formatCount(change)}` : `−${formatCount(-change)}`;
}

function Lines(props: {
  title: string;
  lines: readonly CompilationLine[];
  side: Side;
  id: Id;
  context: IViewContext;
}): JSX.Element | null {
  const { title, lines, side, id, context } = props;
  const { trans } = context;
  return (
    <Listing title={title} of={lines} trans={trans}>
      {line => (
        <li key={line.id}>
          {side === 'before' ? id(line.id, '') : id('', line.id)}{' '}
          {line.frame
            ? `${line.frame.function}, ${formatPlace(line.frame, {}, trans)}`
            : trans.__('an unknown function')}
          {line.duration_s !== null && `, ${formatSeconds(line.duration_s)}`}
          {line.recompile && (
            <p>{trans.__('recompiled: %1', line.recompile)}</p>
          )}
        </li>
      )}
    </Listing>
  );
}

function Times(props: {
  title: string;
  times: readonly TimeChange[];
  id: Id;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { title, times, id, trans } = props;
  return (
    <Listing title={title} of={times} trans={trans}>
      {timeChange => (
        <li key={timeChange.after}>
          {id(timeChange.before, timeChange.after)} {timeChange.function}:{' '}
          {formatSeconds(timeChange.before_s)} →{' '}
          {formatSeconds(timeChange.after_s)}
        </li>
      )}
    </Listing>
  );
}

/**
 * A heading and a list, unless the list is empty.
 */
function Listing<T>(props: {
  title: string;
  of: readonly T[];
  trans: TranslationBundle;
  children: (item: T, index: number) => JSX.Element;
  className?: string;
}): JSX.Element | null {
  const { title, of, trans, children, className } = props;
  return of.length > 0 ? (
    <>
      <h4>{title}</h4>
      <ul className={className}>{of.slice(0, MAX_ROWS).map(children)}</ul>
      <MoreRows count={of.length} trans={trans} />
    </>
  ) : null;
}

function Change(props: {
  change: CompilationChange;
  id: Id;
  trans: TranslationBundle;
}): JSX.Element {
  const { change, id, trans } = props;
  const isWorse = change.outcome !== null && change.outcome[1] === 'failed';
  return (
    <li className={isWorse ? 'jp-mod-serious' : undefined}>
      <header>
        <strong>{change.function}</strong>
        {id(change.before, change.after)}
        {change.outcome && (
          <Badge kind={isWorse ? 'error' : 'info'}>
            {change.outcome_words}
          </Badge>
        )}
      </header>
      {change.graph && (
        <>
          <p>{trans.__('The first text that differs: %1', change.graph)}</p>
          <Sides
            before={[change.line_before]}
            after={[change.line_after]}
            trans={trans}
          />
        </>
      )}
      {change.recompile && (
        <>
          <p>{trans.__('Why it was recompiled')}</p>
          <Sides
            before={[change.recompile[0]]}
            after={[change.recompile[1]]}
            trans={trans}
          />
        </>
      )}
      {change.kernels_gone.length + change.kernels_new.length > 0 && (
        <>
          <p>{trans.__('Kernels')}</p>
          <Sides
            before={change.kernels_gone}
            after={change.kernels_new}
            trans={trans}
          />
        </>
      )}
      {change.kernels_changed.length > 0 && (
        <>
          <p>{trans.__('Kernels of the same operators, with other code')}</p>
          <ul>
            {change.kernels_changed.map(name => (
              <li key={name}>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {change.guards_gone.length + change.guards_new.length > 0 && (
        <details>
          <summary>
            {trans.__(
              'Guards: %1 removed, %2 new',
              formatCount(change.guards_gone.length),
              formatCount(change.guards_new.length)
            )}
          </summary>
          <Sides
            before={change.guards_gone}
            after={change.guards_new}
            trans={trans}
          />
        </details>
      )}
    </li>
  );
}

/**
 * What only one of the traces has.
 */
function Sides(props: {
  before: readonly string[];
  after: readonly string[];
  trans: TranslationBundle;
}): JSX.Element {
  const { before, after, trans } = props;
  const side = (label: string, texts: readonly string[]) => (
    <>
      <dt>{label}</dt>
      <dd>
        {texts.every(text => text === '') && trans.__('nothing')}
        {texts.slice(0, MAX_ROWS).map((text, index) => (
          <code key={index}>{text}</code>
        ))}
        <MoreRows count={texts.length} trans={trans} />
      </dd>
    </>
  );
  return (
    <dl>
      {side(trans.__('before'), before)}
      {side(trans.__('after'), after)}
    </dl>
  );
}

function MoreRows(props: {
  count: number;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { count, trans } = props;
  return count > MAX_ROWS ? (
    <p>
      {trans.__(
        'and %1 more: compilescope diff --json has all',
        formatCount(count - MAX_ROWS)
      )}
    </p>
  ) : null;
}
