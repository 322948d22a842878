import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { KernelCheck } from '../../protocol/types';
import { formatCount, formatDifference } from '../../words/format';
import { Absent, Badge } from '../common';
import type { BadgeKind } from '../common';

const KINDS: Record<KernelCheck['outcome'], BadgeKind> = {
  agrees: 'good',
  differs: 'error',
  'not checked': 'plain'
};

/**
 * Whether a kernel computes what it should, found out without the device.
 *
 * @param props.why - Why nothing is known of it.
 */
export function CheckBadge(props: {
  check: KernelCheck | null;
  why: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { check, why, trans } = props;
  return check ? (
    <Badge kind={KINDS[check.outcome]} title={checkText(check, trans)}>
      {outcomeTitle(check.outcome, trans)}
    </Badge>
  ) : (
    <Absent why={why} />
  );
}

/**
 * All that is known of a check: how it was made, how far both are apart, why it
 * was not made.
 */
export function checkText(
  { error, how, launches, tolerance, why }: KernelCheck,
  trans: TranslationBundle
): string {
  return [
    why,
    how,
    launches > 0 &&
      trans._n(
        '%2 launch compared',
        '%2 launches compared',
        launches,
        formatCount(launches)
      ),
    error !== null &&
      (tolerance === null
        ? trans.__('largest error %1', formatDifference(error))
        : trans.__(
            'largest error %1, tolerance %2',
            formatDifference(error),
            formatDifference(tolerance)
          ))
  ]
    .filter(Boolean)
    .join(' · ');
}

export function outcomeTitle(
  outcome: KernelCheck['outcome'],
  trans: TranslationBundle
): string {
  switch (outcome) {
    case 'agrees':
      return trans.__('agrees');
    case 'differs':
      return trans.__('differs');
    case 'not checked':
      return trans.__('not checked');
  }
}
