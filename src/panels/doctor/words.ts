import type { TranslationBundle } from '@jupyterlab/translation';
import type { Check } from '../../protocol/types';
import type { BadgeKind } from '../common';

/**
 * The result of a check.
 */
export type CheckState = Check['state'];

/**
 * The badge of each state.
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
 * The checks by subject, in their current state.
 */
export function checksBySubject(checks: readonly Check[]): [string, Check[]][] {
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
