import type { Problem } from './types';

/**
 * Why a request failed, as a problem to show.
 */
export class RequestError extends Error {
  /**
   * @param problem - The problem to show.
   * @param kind - `reply`: the kernel replied with it; `closed`: the comm was
   *   closed; `invalid`: the reply is invalid.
   */
  constructor(
    readonly problem: Problem,
    readonly kind: 'reply' | 'closed' | 'invalid'
  ) {
    super([problem.what, problem.why].filter(Boolean).join(': '));
    this.name = 'RequestError';
  }
}

/**
 * A problem; fields that are left out are empty.
 */
export function problem(
  fields: Partial<Problem> & Pick<Problem, 'what'>
): Problem {
  return {
    severity: 'error',
    why: '',
    remedy: '',
    where: null,
    detail: '',
    facts: {},
    ...fields
  };
}

/**
 * The problem of any thrown value.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) {
    return error.problem;
  }
  return problem({
    what: error instanceof Error ? error.message : String(error)
  });
}
