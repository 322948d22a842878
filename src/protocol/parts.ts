import { problem, RequestError } from './errors';
import type { Reply, ReplyPart } from './types';

/**
 * Joins a reply that was sent in parts: their texts, concatenated, are the
 * reply in JSON. They arrive in order, because they use one comm.
 */
export class Parts {
  /**
   * Add a part.
   *
   * @returns The reply if this was the last part, else null.
   * @throws RequestError if a part is missing, repeated or invalid.
   */
  add({ part, parts, text }: ReplyPart): Reply | null {
    const expected = this._texts.length;
    if (this._count !== null && this._count !== parts) {
      throw invalidParts(
        `Its parts disagree on how many there are: ${this._count} or ${parts}`
      );
    }
    if (part !== expected) {
      throw invalidParts(
        part < expected
          ? `Part ${part + 1} of ${parts} came twice`
          : `Part ${expected + 1} of ${parts} is missing`
      );
    }
    this._count = parts;
    this._texts.push(text);
    if (this._texts.length < parts) {
      return null;
    }
    try {
      return JSON.parse(this._texts.join('')) as Reply;
    } catch (error) {
      throw invalidParts(`Its ${parts} parts together are no JSON: ${error}`);
    }
  }

  private _count: number | null = null;
  private _texts: string[] = [];
}

/**
 * Whether a message is a part of a reply.
 */
export function isPart(
  message: Partial<Reply & ReplyPart>
): message is ReplyPart {
  return typeof message.text === 'string' && typeof message.part === 'number';
}

function invalidParts(why: string): RequestError {
  return new RequestError(
    problem({
      what: 'A long reply from the kernel arrived incomplete',
      why,
      remedy: 'Try again; if the error persists, reload the page.'
    }),
    'invalid'
  );
}
