import type { IConnection } from '../../protocol/connection';
import type {
  ArtifactResult,
  Compilation,
  CompilationPart,
  Graph,
  Variant,
  VariantReport
} from '../../protocol/types';
import { PARTS } from '../../protocol/types';
import { AnswerCache } from './answers';
import { unpack } from './packing';

/**
 * Reads the parts of the selected subject's report when views need them.
 */
export class ReportReader {
  /**
   * @param _need - The connection and the selected subject; throws when there
   * are none.
   */
  constructor(
    private _need: () => {
      connection: Pick<IConnection, 'request'>;
      subject: string;
    }
  ) {}

  /**
   * Forget everything that was read.
   */
  clear(): void {
    this._cache = this._newCache();
  }

  /**
   * Forget what was read of a subject whose report has changed.
   *
   * @param variants - Those whose artifacts and graphs may have changed; null for all.
   */
  invalidate(subject: string, variants: readonly string[] | null): void {
    this._cache.invalidate(subject, variants);
  }

  async getArtifact(
    variant: string,
    compilation: string,
    artifact: string
  ): Promise<ArtifactResult> {
    const { subject } = this._need();
    return this._cache.get('get_artifact', {
      subject,
      variant,
      compilation,
      artifact
    });
  }

  /**
   * A switch has changed a report: ask for the wrapper of the new variant right behind the
   * report, if a view has one of the variant beside. It shows the new one next.
   *
   * @param shown - What the views show.
   * @param changed - The variants whose artifacts changed, the requested one among them.
   * @param requested - What the switches request.
   */
  readWrapperAhead(
    { variant, compilation }: { variant: string; compilation: string },
    changed: readonly string[] | null,
    requested: Variant
  ): void {
    const { subject } = this._need();
    const wrapper = (of: string, artifact: string) =>
      [
        'get_artifact',
        { subject, variant: of, compilation, artifact }
      ] as const;
    const name = changed?.find(name => name !== variant);
    const isShown = ['python', 'cpp'].some(artifact =>
      this._cache.has(...wrapper(variant, artifact))
    );
    if (name !== undefined && isShown) {
      const artifact = requested.cpp_wrapper ? 'cpp' : 'python';
      // If it cannot be had, the view that asks for it says why.
      this._cache.get(...wrapper(name, artifact)).catch(() => undefined);
    }
  }

  async getVariant(variant: string): Promise<VariantReport> {
    const { subject } = this._need();
    const answer = await this._cache.get('get_variant', { subject, variant });
    return answer.variant;
  }

  /**
   * Each part is asked for by itself, so that views share what they have in
   * common.
   */
  async getCompilation(
    variant: string,
    compilation: string,
    parts: readonly CompilationPart[]
  ): Promise<Compilation> {
    const { subject } = this._need();
    const ask = async (asked: string[]) => {
      const answer = await this._cache.get('get_compilation', {
        subject,
        variant,
        compilation,
        parts: asked
      });
      return answer.compilation;
    };
    if (parts.length === 0) {
      return ask([]);
    }
    const answers = await Promise.all(parts.map(part => ask([part])));
    const merged = { ...answers[0] };
    parts.forEach((part, index) => {
      for (const field of PARTS[part]) {
        Object.assign(merged, { [field]: answers[index][field] });
      }
    });
    return merged;
  }

  async getGraph(
    variant: string,
    compilation: string,
    stage: string
  ): Promise<Graph> {
    const { subject } = this._need();
    const answer = await this._cache.get('get_graph', {
      subject,
      variant,
      compilation,
      stage
    });
    return unpack(answer.graph);
  }

  private _newCache(): AnswerCache {
    return new AnswerCache((command, args) =>
      this._need().connection.request(command, args)
    );
  }

  private _cache = this._newCache();
}
