import type { Widget } from '@lumino/widgets';
import type { IViewContext, LoadView, ViewId } from './views';

/**
 * Loads a view's code when it is first opened, and creates the view.
 */
export const loadView: LoadView = (id, context) => LOADERS[id](context);

const LOADERS: Record<ViewId, (context: IViewContext) => Promise<Widget>> = {
  overview: async context =>
    new (await import('./overview')).OverviewView(context),
  code: async context => new (await import('./code')).CodePanel(context),
  graph: async context => new (await import('./graph')).GraphView(context),
  kernels: async context =>
    new (await import('./kernels')).KernelsView(context),
  timings: async context =>
    new (await import('./timings')).TimingsView(context),
  'compile-time': async context =>
    new (await import('./compile-time')).CompileTimeView(context),
  guards: async context => new (await import('./guards')).GuardsView(context),
  recompiles: async context =>
    new (await import('./recompiles-breaks')).RecompilesAndBreaksView(context),
  requested: async context =>
    new (await import('./requested')).RequestedView(context),
  wrappers: async context =>
    new (await import('./wrappers')).WrappersView(context),
  changes: async context =>
    new (await import('./changes')).ChangesView(context),
  memory: async context => new (await import('./memory')).MemoryView(context),
  sweep: async context => new (await import('./sweep')).SweepView(context),
  autotune: async context =>
    new (await import('./autotune')).AutotuneView(context),
  package: async context =>
    new (await import('./package')).PackageView(context),
  ranks: async context => new (await import('./ranks')).RanksView(context),
  targets: async context =>
    new (await import('./targets')).TargetsView(context),
  trace: async context => new (await import('./trace')).TraceView(context)
};
