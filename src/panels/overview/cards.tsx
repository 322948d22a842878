import * as React from 'react';
import type { Answer, Limit, Variant } from '../../protocol/types';
import { LIMIT_TITLE } from '../../protocol/types';
import { layerClass } from '../../words/layers';
import { Prose } from '../common/prose';
import { StudyButton } from '../common/study';
import type { IViewContext } from '../views';
import { BuildProgress } from './build';
import { joined, ViewLink } from '../common/viewLink';
import { TryButton } from './tryButton';

/**
 * Whether the C++ wrapper is worthwhile.
 */
export function WrapperCard(props: {
  answer: Answer;
  context: IViewContext;
  onTry: (variant: Variant) => void;
}): JSX.Element {
  const { answer, context, onTry } = props;
  const { requested } = answer;
  const { trans } = context;
  return (
    <Card title={trans.__('Is the C++ wrapper worth it?')}>
      <p className="jp-Compilescope-overviewAnswer">
        {joined(answer.headline)}
      </p>
      <p>
        {joined(answer.text)}{' '}
        <ViewLink view={answer.view} context={context}>
          {trans.__('Step by step')}
        </ViewLink>
      </p>
      <Remedy text={answer.remedy} context={context} />
      {answer.unbuilt && <BuildProgress context={context} />}
      {requested && (
        <p className="jp-Compilescope-cardAction">
          <TryButton
            requested={requested}
            label={
              requested.cpp_wrapper
                ? trans.__('Add the C++ wrapper')
                : trans.__('Add the Python wrapper')
            }
            className="jp-Compilescope-button"
            context={context}
            onTry={onTry}
          />
        </p>
      )}
    </Card>
  );
}

/**
 * What limits a call, with a bar of where its time goes.
 */
export function LimitCard(props: {
  limit: Limit;
  context: IViewContext;
}): JSX.Element {
  const { limit, context } = props;
  const { parts } = limit;
  const { model, trans } = context;
  const variant = model.report?.variants.find(
    ({ name }) => name === limit.variant
  );
  const isKnown = limit.basis !== 'unknown';
  return (
    <Card
      title={LIMIT_TITLE}
      of={
        limit.basis === 'estimated'
          ? trans.__('%1, estimated', limit.title)
          : limit.title
      }
    >
      <p className="jp-Compilescope-overviewAnswer">{joined(limit.headline)}</p>
      {parts.length > 0 && (
        <>
          <div
            className="jp-Compilescope-stackBar"
            role="img"
            aria-label={parts.map(({ text }) => text).join(', ')}
          >
            {parts.map(part => (
              <span
                key={part.kind}
                className={layerClass(part.kind)}
                style={{ width: `${100 * part.share}%` }}
                title={part.text}
              />
            ))}
          </div>
          <ul className="jp-Compilescope-legend" aria-hidden="true">
            {parts.map(part => (
              <li key={part.kind}>
                <span className={layerClass(part.kind)} />
                {part.text}
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        {parts.length === 0 && `${joined(limit.text)} `}
        {limit.calls && `${joined(limit.calls)} `}
        {(isKnown || variant?.verdict) && (
          <ViewLink view={limit.view} context={context}>
            {trans.__('Where the time goes')}
          </ViewLink>
        )}
      </p>
      {limit.study && variant && !limit.unbuilt && model.isLive && (
        <p className="jp-Compilescope-cardAction">
          <StudyButton
            study={limit.study}
            label={
              limit.study === 'kernels'
                ? trans.__('Measure kernels')
                : trans.__('Break down the time')
            }
            variants={[variant]}
            context={context}
          />
        </p>
      )}
      <Remedy text={limit.remedy} context={context} />
      {limit.unbuilt && <BuildProgress context={context} />}
    </Card>
  );
}

/**
 * The Python call that provides what is missing, for a report from a file. If
 * the kernel has ended, there is no session to call it in; the strip above all
 * views runs the cell again.
 */
function Remedy(props: {
  text: string;
  context: IViewContext;
}): JSX.Element | null {
  const { text, context } = props;
  return text && !context.model.isLive && !context.runAgain ? (
    <p className="jp-Compilescope-muted">
      <Prose text={text} />
    </p>
  ) : null;
}

function Card(props: {
  title: string;

  /**
   * What the answer is about.
   */
  of?: string;
  children: React.ReactNode;
}): JSX.Element {
  const id = React.useId();
  return (
    <section className="jp-Compilescope-overviewCard" aria-labelledby={id}>
      <h3 id={id}>
        {props.title}
        {props.of && <small> {props.of}</small>}
      </h3>
      {props.children}
    </section>
  );
}
