import type { Commands } from '../../protocol/types';

/**
 * The requests whose answers stay the same for as long as a report does.
 */
export type CachedRequest =
  'get_artifact' | 'get_variant' | 'get_compilation' | 'get_graph';

/**
 * Answers about reports, kept until what they are of has changed.
 */
export class AnswerCache {
  /**
   * @param ask - Asks the kernel.
   */
  constructor(
    private _ask: <K extends CachedRequest>(
      command: K,
      args: Commands[K]['arguments']
    ) => Promise<Commands[K]['result']>
  ) {}

  /**
   * Get an answer; requests for the same share one.
   */
  get<K extends CachedRequest>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    const key = JSON.stringify([command, args]);
    const known = this._entries.get(key);
    if (known) {
      return known.answer as Promise<Commands[K]['result']>;
    }
    const answer = this._ask(command, args);
    const { subject, variant } = args;
    const entry = { subject, variant, answer };
    this._entries.set(key, entry);
    answer.catch(() => {
      // A failure is not kept: the next look asks again.
      if (this._entries.get(key) === entry) {
        this._entries.delete(key);
      }
    });
    return answer;
  }

  /**
   * Drop what is of a subject, or of one of its variants.
   */
  invalidate(subject: string, variant: string | null = null): void {
    for (const [key, entry] of this._entries) {
      if (
        entry.subject === subject &&
        (variant === null || entry.variant === variant)
      ) {
        this._entries.delete(key);
      }
    }
  }

  private _entries = new Map<
    string,
    { subject: string; variant: string; answer: Promise<unknown> }
  >();
}
