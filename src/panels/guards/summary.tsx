import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Badge } from '../common';
import { readingText } from '../common/graphs';
import {
  formatCount,
  formatNanoseconds,
  formatShare
} from '../../words/format';
import type { ISummary } from './totals';

/**
 * The totals of all guards, in a line.
 */
export function Summary(props: {
  summary: ISummary;

  /**
   * Of how many compilations they are, and how many of these are still to be read.
   */
  graphs: number;
  waiting: number;
  noCost: string;

  /**
   * Why it is unknown how often they held; empty if it is known.
   */
  noHits: string;

  /**
   * Which guards are missing from the list; empty if none are.
   */
  lacking: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { summary, graphs, waiting, noCost, noHits, lacking, trans } = props;
  const { count, python, failing, counted, cost, costliest } = summary;
  return (
    <p className="jp-Compilescope-guardSummary">
      {waiting > 0 && <span>{readingText(waiting, trans)}</span>}
      <strong>
        {trans._n('%2 guard', '%2 guards', count, formatCount(count))}
      </strong>
      {graphs > 1 && (
        <span>{trans.__('of %1 compilations', formatCount(graphs))}</span>
      )}
      {cost === null ? (
        <span className="jp-Compilescope-muted">{noCost}</span>
      ) : (
        <span
          title={trans.__(
            'The shortest of repeated checks, with warm CPU caches. In a call, kernels and other processes evict the data that guards read: the guards of many modules then take twice as long or more. “Where one call’s time goes” also includes Dynamo’s entry.'
          )}
        >
          {graphs > 1
            ? trans.__('at least %1 to check all', formatNanoseconds(cost))
            : trans.__('at least %1 a call', formatNanoseconds(cost))}{' '}
          <span className="jp-Compilescope-muted">
            {trans.__('measured on a clone of the guards')}
          </span>
        </span>
      )}
      {costliest && (
        <span>
          {trans._n(
            'the costliest takes %2',
            'the %1 costliest take %2',
            costliest.count,
            formatShare(costliest.share)
          )}
        </span>
      )}
      {python > 0 && (
        <Badge
          kind="warning"
          title={trans.__(
            'A guard that is checked in Python costs about 1 µs per call, and takes the GIL.'
          )}
        >
          {trans.__('%1 in Python', formatCount(python))}
        </Badge>
      )}
      {failing > 0 ? (
        <Badge kind="error" title={noHits}>
          {trans._n(
            '%2 has failed',
            '%2 have failed',
            failing,
            formatCount(failing)
          )}
        </Badge>
      ) : (
        counted && <span title={noHits}>{trans.__('none failed')}</span>
      )}
      {lacking && <span className="jp-Compilescope-muted">{lacking}</span>}
    </p>
  );
}
