import * as React from 'react';
import type { KernelCheck } from '../../protocol/types';
import { AbsentValue, Badge } from '../common';
import type { BadgeKind } from '../common';

/**
 * The color of a result.
 */
export const CHECK_KINDS: Record<KernelCheck['outcome'], BadgeKind> = {
  agrees: 'good',
  differs: 'error',
  'not checked': 'plain'
};

/**
 * Whether a kernel computes the right values, as checked without the device.
 *
 * @param props.why - Why there is no result.
 */
export function CheckBadge(props: {
  check: KernelCheck | null;
  why: string;
}): JSX.Element {
  const { check, why } = props;
  return check ? (
    <Badge kind={CHECK_KINDS[check.outcome]} title={check.text}>
      {check.outcome}
    </Badge>
  ) : (
    <AbsentValue why={why} />
  );
}
