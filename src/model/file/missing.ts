import { problem, RequestError } from '../../protocol/client';

/**
 * The error for a part that a report does not have.
 */
export function missing(
  what: string,
  why: string,
  remedy: string
): RequestError {
  return new RequestError(problem({ what, why, remedy }), 'reply');
}
