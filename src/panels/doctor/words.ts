import type { TranslationBundle } from '@jupyterlab/translation';
import type { Check, Checkup } from '../../protocol/types';
import type { BadgeKind } from '../common';

/**
 * How a check came out.
 */
export type CheckState = Check['state'];

/**
 * How each state's badge looks.
 */
export const KINDS: Readonly<Record<CheckState, BadgeKind>> = {
  problem: 'error',
  warning: 'warning',
  ok: 'good',
  'not needed': 'plain'
};

/**
 * A state in words.
 */
export function stateText(state: CheckState, trans: TranslationBundle): string {
  switch (state) {
    case 'problem':
      return trans.__('problem');
    case 'warning':
      return trans.__('warning');
    case 'ok':
      return trans.__('ok');
    default:
      return trans.__('not needed');
  }
}

/**
 * How many checks came out how, and what is still looked at.
 */
export function summaryOf(checkup: Checkup, trans: TranslationBundle): string {
  const count = (state: CheckState) =>
    checkup.checks.filter(check => check.state === state).length;
  const counts = [
    trans._n('%1 problem', '%1 problems', count('problem')),
    trans._n('%1 warning', '%1 warnings', count('warning')),
    trans.__('%1 ok', count('ok')),
    trans.__('%1 not needed', count('not needed'))
  ].join(', ');
  return checkup.waiting.length
    ? trans.__('%1; still checking: %2', counts, checkup.waiting.join(', '))
    : counts;
}

/**
 * The checks by subject, as they stand.
 */
export function bySubject(checks: readonly Check[]): [string, Check[]][] {
  const groups = new Map<string, Check[]>();
  for (const check of checks) {
    const group = groups.get(check.subject);
    if (group) {
      group.push(check);
    } else {
      groups.set(check.subject, [check]);
    }
  }
  return [...groups];
}
