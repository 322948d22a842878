import type { Problem } from './types';

/**
 * Why a request failed, as a problem to show.
 */
export class RequestError extends Error {
  /**
   * @param problem - What to tell the user.
   * @param kind - `reply`: the kernel said so; `closed`: the comm went away;
   * `invalid`: the answer makes no sense.
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
 * A problem with the fields that are not given left empty.
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
 * What went wrong, whatever was thrown.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) {
    return error.problem;
  }
  return problem({
    what: error instanceof Error ? error.message : String(error)
  });
}
