import type { CacheEvent, Compilation } from '../../protocol/types';
import type { Run } from './lanes';
import { earliest, layOut } from './spans';

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
 * What the processes of a trace are called.
 */
export interface ITraceNames {
  readonly run: Readonly<Record<Run, string>>;
  readonly track: (compilation: string, track: number, main: boolean) => string;
}

/**
 * Compilations as a Chrome trace: a process for the cold and one for the warm
 * run, a thread or more for each track of each compilation.
 *
 * @param about - What the trace is of: put into the file as it is.
 */
export function chromeTrace(
  compilations: readonly Compilation[],
  about: Readonly<Record<string, unknown>>,
  names: ITraceNames
): ITrace {
  const events: ITraceEvent[] = [];
  (['cold', 'warm'] as const).forEach((run, index) => {
    const pid = index + 1;
    const own = compilations
      .map(one => ({
        id: one.id,
        phases: run === 'cold' ? one.phases : one.warm_phases
      }))
      .filter(({ phases }) => phases.length > 0);
    if (own.length === 0) {
      return;
    }
    events.push(meta('process_name', pid, 0, { name: names.run[run] }));
    events.push(meta('process_sort_index', pid, 0, { sort_index: pid }));
    const origin = Math.min(...own.map(({ phases }) => earliest(phases)));
    let tid = 0;
    for (const { id, phases } of own) {
      const { spans, bands, main } = layOut(phases, origin);
      const before = tid;
      for (const { track } of bands) {
        tid++;
        const name = names.track(id, track, track === main);
        events.push(meta('thread_name', pid, tid, { name }));
        events.push(meta('thread_sort_index', pid, tid, { sort_index: tid }));
      }
      for (const span of spans) {
        events.push({
          ph: 'X',
          name: span.name,
          cat: span.kind,
          pid,
          // Spans of one thread must nest: a band each.
          tid: before + 1 + span.band,
          ts: exact(span.start),
          dur: exact(span.duration),
          args: {
            compile_id: id,
            self_us: exact(span.self),
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

function meta(
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

/** Without the digits that subtracting floats leaves behind. */
function exact(microseconds: number): number {
  return Math.round(microseconds * 1e3) / 1e3;
}
