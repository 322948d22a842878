import { TraceConnection, readShown } from '../model/trace';
import type { ITraceAnswer } from '../model/trace';
import { problem, RequestError } from '../protocol/client';
import type { Request } from '../protocol/types';
import { showModel } from './showModel';

/**
 * Show a trace that the server of this page reads.
 *
 * @param address - Where it takes requests, relative to the page's.
 */
export function showServed(address: string): void {
  const { model } = showModel('', 'trace');
  readShown(model);
  model.connection = new TraceConnection(request => post(address, request));
}

/**
 * Asks the server of this page, which reads a trace.
 *
 * @param address - Relative to the page's.
 */
async function post(address: string, request: Request): Promise<ITraceAnswer> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(request)
    });
    if (!response.ok) {
      throw new Error(`${response.status} ${response.statusText}`);
    }
    return (await response.json()) as ITraceAnswer;
  } catch (error) {
    throw new RequestError(
      problem({
        what: 'The server of this page does not answer',
        why: (error as Error).message,
        remedy: 'Run compilescope open again.'
      }),
      'closed'
    );
  }
}
