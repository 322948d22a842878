import type { ArtifactResult, GetArtifact } from '../protocol/types';

/**
 * Artifacts that were asked for, kept until what they are of has changed.
 */
export class ArtifactCache {
  /**
   * @param fetch - Asks the kernel for an artifact.
   */
  constructor(
    private _fetch: (request: GetArtifact) => Promise<ArtifactResult>
  ) {}

  /**
   * Get an artifact; requests for the same one share one answer.
   */
  get(request: GetArtifact): Promise<ArtifactResult> {
    const { subject, variant, compilation, artifact } = request;
    const key = JSON.stringify([subject, variant, compilation, artifact]);
    const known = this._entries.get(key);
    if (known) {
      return known.result;
    }
    const result = this._fetch(request);
    const entry = { subject, variant, result };
    this._entries.set(key, entry);
    result.catch(() => {
      // A failure is not kept: the next look asks again.
      if (this._entries.get(key) === entry) {
        this._entries.delete(key);
      }
    });
    return result;
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

  /**
   * Drop everything.
   */
  clear(): void {
    this._entries.clear();
  }

  private _entries = new Map<
    string,
    { subject: string; variant: string; result: Promise<ArtifactResult> }
  >();
}
