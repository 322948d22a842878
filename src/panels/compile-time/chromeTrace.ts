import type { CacheEvent, Compilation, Phase } from '../../protocol/types';
import type { ILane } from './timeline/lanes';
import type { IKernelPhases } from './timeline/loadPhases';
import { earliest, layOut } from './timeline/spans';

/**
 * A run as a process of the trace; recorded phases are the first process.
 */
type TraceRun = Exclude<ILane['run'], 'recorded'>;

const RUNS: readonly TraceRun[] = ['cold', 'warm', 'later'];

/**
 * An event of Chrome's trace format: `X` is a complete span, `M` names a
 * process or a thread. Times are in µs.
 */
export interface ITraceEvent {
  readonly ph: 'X' | 'M';
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly cat?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * A file that Perfetto and `chrome://tracing` open.
 */
export interface ITrace {
  readonly displayTimeUnit: 'ms';
  readonly traceEvents: readonly ITraceEvent[];
  readonly otherData: Readonly<Record<string, unknown>>;
}

/**
 * The names of the processes of a trace.
 */
export interface ITraceNames {
  readonly run: Readonly<Record<TraceRun, string>>;
  readonly track: (
    lane: Pick<ILane, 'id' | 'of' | 'run'>,
    track: number,
    main: boolean
  ) => string;
}

/**
 * Compilations and their kernels as a Chrome trace: a process for the cold run,
 * one for the warm run, and one for a later call, with its own clock; at least
 * one thread for each track of each compilation, and of its kernels.
 *
 * @param kernels - Kernels whose compilation is unknown come last.
 * @param about - A description of the trace, copied into the file.
 */
export function chromeTrace(
  compilations: readonly Compilation[],
  kernels: readonly IKernelPhases[],
  about: Readonly<Record<string, unknown>>,
  names: ITraceNames
): ITrace {
  const events: ITraceEvent[] = [];
  RUNS.forEach((run, index) => {
    const pid = index + 1;
    const threads = threadsOf(run, compilations, kernels);
    if (threads.length === 0) {
      return;
    }
    events.push(
      metadataEvent('process_name', pid, 0, { name: names.run[run] })
    );
    events.push(
      metadataEvent('process_sort_index', pid, 0, { sort_index: pid })
    );
    const origin = Math.min(...threads.map(({ phases }) => earliest(phases)));
    let tid = 0;
    for (const { id, of, phases } of threads) {
      const { spans, bands, main } = layOut(phases, origin);
      // The call does not necessarily wait for the first step of a kernel.
      const waited = of === 'kernels' ? 0 : main;
      const before = tid;
      for (const { track } of bands) {
        tid++;
        const name = names.track({ id, of, run }, track, track === waited);
        events.push(metadataEvent('thread_name', pid, tid, { name }));
        events.push(
          metadataEvent('thread_sort_index', pid, tid, { sort_index: tid })
        );
      }
      for (const span of spans) {
        events.push({
          ph: 'X',
          name: span.name,
          cat: span.kind,
          pid,
          // Spans of one thread must nest, so each band is a thread.
          tid: before + 1 + span.band,
          ts: exact(span.start),
          dur: exact(span.duration),
          args: {
            ...(id && { compile_id: id }),
            ...(span.self !== null && { self_us: exact(span.self) }),
            ...(span.detail && { detail: span.detail })
          }
        });
      }
    }
  });
  const caches = compilations.map(({ id, cache, warm_cache }) => ({
    compile_id: id,
    cold: cache.map(outcome),
    warm: warm_cache.map(outcome)
  }));
  return {
    displayTimeUnit: 'ms',
    traceEvents: events,
    otherData: { ...about, caches }
  };
}

interface IThreads {
  readonly id: string;
  readonly of: ILane['of'];
  readonly phases: readonly Phase[];
}

/** The lanes of a run: each compilation, with its kernels below it. */
function threadsOf(
  run: TraceRun,
  compilations: readonly Compilation[],
  kernels: readonly IKernelPhases[]
): IThreads[] {
  const phasesOf = (compilation: Compilation) =>
    ({ cold: compilation.phases, warm: compilation.warm_phases, later: [] })[
      run
    ];
  const kernelsOf = (id: string): IThreads[] =>
    kernels
      .filter(({ compilation }) => compilation === id)
      .map(({ first, later }) => ({
        id,
        of: 'kernels',
        phases: { cold: first, warm: [], later }[run]
      }));
  return [
    ...compilations.flatMap((compilation): IThreads[] => [
      { id: compilation.id, of: 'phases', phases: phasesOf(compilation) },
      ...kernelsOf(compilation.id)
    ]),
    ...kernelsOf('')
  ].filter(({ phases }) => phases.length > 0);
}

function metadataEvent(
  name: string,
  pid: number,
  tid: number,
  args: ITraceEvent['args']
): ITraceEvent {
  return { ph: 'M', name, pid, tid, args };
}

function outcome({ cache, outcome, key }: CacheEvent): object {
  return { cache, outcome, key };
}

/** Removes the digits that subtracting floats leaves behind. */
function exact(microseconds: number): number {
  return Math.round(microseconds * 1e3) / 1e3;
}
