import type { Commands } from '../../protocol/types';

/**
 * The requests whose replies depend only on the report.
 */
export type CachedRequest =
  'get_artifact' | 'get_variant' | 'get_compilation' | 'get_graph';

/**
 * The requests whose replies depend only on some variants: the kernel names
 * those that a change of the report affects.
 */
const OF_CHANGED_VARIANTS: ReadonlySet<CachedRequest> = new Set([
  'get_artifact',
  'get_graph'
] as const);

/**
 * A cache of replies about reports, each kept until its subject changes.
 */
export class AnswerCache {
  /**
   * @param _ask - Sends a request to the kernel.
   */
  constructor(
    private _ask: <K extends CachedRequest>(
      command: K,
      args: Commands[K]['arguments']
    ) => Promise<Commands[K]['result']>
  ) {}

  /**
   * Get a reply; equal requests share it.
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
    const entry = { command, subject, variant, answer };
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
   * Whether an answer is here or on its way.
   */
  has<K extends CachedRequest>(
    command: K,
    args: Commands[K]['arguments']
  ): boolean {
    return this._entries.has(JSON.stringify([command, args]));
  }

  /**
   * A report has changed: drop what may be of its past.
   *
   * @param variants - Those whose artifacts and graphs may have changed; null for all.
   */
  invalidate(subject: string, variants: readonly string[] | null): void {
    for (const [key, entry] of this._entries) {
      const isKept =
        variants !== null &&
        OF_CHANGED_VARIANTS.has(entry.command) &&
        !variants.includes(entry.variant);
      if (entry.subject === subject && !isKept) {
        this._entries.delete(key);
      }
    }
  }

  private _entries = new Map<
    string,
    {
      command: CachedRequest;
      subject: string;
      variant: string;
      answer: Promise<unknown>;
    }
  >();
}
