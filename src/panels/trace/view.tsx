import * as React from 'react';
import type { TraceSummary } from '../../protocol/types';
import { formatDate } from '../../words/format';
import type { IEmpty } from '../common';
import { ReportView } from '../common';
import type { IViewContext } from '../views';
import { Comparison } from './comparison';
import { CompilationList } from './list';
import { Losses } from './losses';
import { RankComparisonPart } from './ranks';
import { Search } from './search';
import { StackTrees } from './stacks';

/**
 * If a job logs nothing for this long, in milliseconds, it may have ended.
 */
const QUIET_MS = 3_600_000;

/**
 * The Trace view: all compilations of a trace, avoidable compile time, a
 * comparison of its ranks, and a search.
 */
export class TraceView extends ReportView<TraceSummary | null> {
  constructor(context: IViewContext) {
    super(context, {
      name: 'trace',
      label: context.trans.__('Trace'),
      isOfSubject: true
    });
  }

  protected override async load(): Promise<TraceSummary | null> {
    return this.model.report?.trace ?? null;
  }

  protected override whyEmpty(trace: TraceSummary | null): IEmpty | null {
    const { trans } = this;
    return trace
      ? null
      : {
          what: trans.__('Not a trace'),
          why: trans.__(
            'This view lists the compilations in a TORCH_TRACE log.'
          ),
          remedy: trans.__(
            'Open a log, or a folder of logs, with Compilescope.'
          )
        };
  }

  protected override present(trace: TraceSummary | null): JSX.Element {
    const { context } = this;
    return trace ? (
      <div className="jp-Compilescope-body jp-Compilescope-traceBody">
        {trace.is_followed && (
          <p className="jp-Compilescope-traceFollowed">
            {followed(trace, context)}
          </p>
        )}
        {trace.fix_first.length > 0 && (
          <Losses
            losses={trace.fix_first}
            isOfMany={(this.model.report?.variants.length ?? 0) > 1}
            context={context}
          />
        )}
        {trace.ranks && (
          <RankComparisonPart ranks={trace.ranks} context={context} />
        )}
        <Comparison difference={trace.difference} context={context} />
        <CompilationList context={context} />
        {trace.stacks.some(({ lines }) => lines.length > 0) && (
          <StackTrees trees={trace.stacks} context={context} />
        )}
        <Search context={context} />
      </div>
    ) : (
      <></>
    );
  }
}

function followed({ written }: TraceSummary, { trans }: IViewContext): string {
  const last = new Date(written);
  return Date.now() - last.getTime() > QUIET_MS
    ? trans.__(
        'Last written %1. If its job is still running, new compilations appear here.',
        formatDate(last)
      )
    : trans.__('The log is followed: new compilations appear here.');
}
