import type {
  Compilation,
  CompilationSummary,
  Kernel,
  Region
} from '../../protocol/types';
import type { ILinked, ISelection } from '../../interfaces/selection';
import type { ISubjectModel } from '../../interfaces/subject';
import { wrapperName } from '../wrappers';
import { bareLinks, kernelStage, resolveLinks } from './links';
import { GraphIndex } from './nodes';
import type { ReportReader } from '../reading/reader';
import type { ILinkData } from './linkData';

/**
 * Looks up a selection in the shown compilation. It fetches only the necessary
 * data, nothing while nothing is selected, and ignores replies that are out of
 * date.
 */
export class Linker {
  constructor(private _options: Linker.IOptions) {}

  get linked(): ILinked {
    return this._linked;
  }

  /**
   * Start with what the selection itself names.
   */
  start(selection: ISelection): void {
    this._linked = bareLinks(selection);
  }

  /**
   * Look up the current selection in the shown compilation.
   */
  async look(): Promise<void> {
    const ticket = ++this._ticket;
    const { model } = this._options;
    const { selection, variant, compilation } = model;
    if (!isSomething(selection)) {
      // Said once; a report that changes while nothing is selected links nothing.
      if (this._isSaid) {
        this._isSaid = false;
        this._options.onChange(this._linked);
      }
      return;
    }
    this._isSaid = true;
    if (!variant || !compilation) {
      this._set(bareLinks(selection));
      return;
    }
    const data = await this._fetch(selection, variant, compilation);
    if (ticket === this._ticket && !model.isDisposed) {
      this._set(resolveLinks(selection, data));
    }
  }

  /**
   * A view looks at a graph: what is selected is shown there too.
   */
  graphLooked(variant: string, compilation: string, stage: string): void {
    const name = `${variant} ${compilation}`;
    const stages = this._looked.get(name) ?? new Set();
    this._looked.set(name, stages);
    if (!stages.has(stage)) {
      stages.add(stage);
      if (isSomething(this._options.model.selection)) {
        void this.look();
      }
    }
  }

  /**
   * Forget what was looked at: the report is another one.
   */
  forget(): void {
    this._ticket++;
    this._looked.clear();
  }

  private async _fetch(
    selection: ISelection,
    variant: string,
    compilation: string
  ): Promise<ILinkData> {
    const { model, reader } = this._options;
    const shown = await kernelsOf(reader, variant, compilation);
    const partners = new Set(
      shown.flatMap(({ launches }) => launches.map(launch => launch.variant))
    );
    const { left, right } = model.selectedVariants;
    const others = [...new Set([left, right])].filter(
      name => name !== variant && partners.has(name)
    );
    const stages = new Set(this._looked.get(`${variant} ${compilation}`));
    if (stages.size > 0 || selection.node) {
      shown.forEach(kernel => stages.add(kernelStage(kernel)));
      stages.add('dynamo');
    }
    if (selection.node) {
      stages.add(selection.node.stage);
    }
    const summary = model.report?.variants
      .find(({ name }) => name === variant)
      ?.compilations.find(({ id }) => id === compilation);
    const [kernels, graphs, launches] = await Promise.all([
      Promise.all(others.map(name => kernelsOf(reader, name, compilation))),
      graphsOf(reader, variant, summary, stages),
      launchesOf(reader, variant, summary, shown)
    ]);
    return {
      kernels: [...shown, ...kernels.flat()],
      graphs,
      launches,
      files: model.report?.files ?? {}
    };
  }

  private _set(linked: ILinked): void {
    this._linked = linked;
    this._options.onChange(linked);
  }

  private _linked: ILinked = bareLinks(NO_SELECTION);

  /**
   * Variant and compilation → the stages that views look at.
   */
  private _looked = new Map<string, Set<string>>();
  private _isSaid = false;
  private _ticket = 0;
}

/**
 * What links depend on.
 */
export type ILinkedModel = Pick<
  ISubjectModel,
  | 'report'
  | 'selection'
  | 'selectedVariants'
  | 'variant'
  | 'compilation'
  | 'isDisposed'
>;

/**
 * The namespace for `Linker` statics.
 */
export namespace Linker {
  /**
   * What selections are resolved in, and the callback.
   */
  export interface IOptions {
    model: ILinkedModel;

    reader: ReportReader;
    onChange: (linked: ILinked) => void;
  }
}

/**
 * Nothing selected.
 */
export const NO_SELECTION: ISelection = {
  key: null,
  source: null,
  node: null,
  kernel: null,
  text: null,
  origin: null
};

function isSomething({ key, kernel, node, source }: ISelection): boolean {
  return key !== null || kernel !== null || node !== null || source !== null;
}

/**
 * The kernels of a compilation; none where they cannot be had, which the views
 * that show them say.
 */
async function kernelsOf(
  reader: ReportReader,
  variant: string,
  compilation: string
): Promise<readonly Kernel[]> {
  const none: Pick<Compilation, 'kernels'> = { kernels: [] };
  const answer = await reader
    .getCompilation(variant, compilation, ['kernels'])
    .catch(() => none);
  return answer.kernels;
}

async function graphsOf(
  reader: ReportReader,
  variant: string,
  compilation: CompilationSummary | undefined,
  stages: ReadonlySet<string>
): Promise<ReadonlyMap<string, GraphIndex>> {
  const names = compilation?.stages.filter(stage => stages.has(stage)) ?? [];
  const graphs = await Promise.allSettled(
    names.map(stage => reader.getGraph(variant, compilation!.id, stage))
  );
  return new Map(
    graphs.flatMap(graph =>
      graph.status === 'fulfilled'
        ? [[graph.value.stage, GraphIndex.of(graph.value)] as const]
        : []
    )
  );
}

/**
 * What the wrapper says of each launch, if some kernel has several: only there
 * it says more than the kernels do.
 */
async function launchesOf(
  reader: ReportReader,
  variant: string,
  compilation: CompilationSummary | undefined,
  kernels: readonly Kernel[]
): Promise<ReadonlyMap<string, Region>> {
  const names = new Set<string>();
  for (const { direction, launches } of kernels) {
    const ofVariant = launches.filter(launch => launch.variant === variant);
    if (ofVariant.length > 1) {
      names.add(wrapperName(direction, ofVariant[0].artifact));
    }
  }
  const artifacts = compilation?.artifacts.filter(({ name }) =>
    names.has(name)
  );
  const texts = await Promise.allSettled(
    (artifacts ?? []).map(({ name }) =>
      reader.getArtifact(variant, compilation!.id, name)
    )
  );
  return new Map(
    texts
      .flatMap(text => (text.status === 'fulfilled' ? text.value.regions : []))
      .filter(region => region.kind === 'launch' && region.key)
      .map(region => [region.key, region])
  );
}
