import { Signal } from '@lumino/signaling';
import type { EventOf, IConnection } from '../../../src/protocol/connection';
import type {
  Commands,
  Count,
  HelloResult,
  JobState,
  Overview,
  ReportSummary,
  Sides,
  SubjectSummary,
  Variant,
  VariantSummary
} from '../../../src/protocol/types';
import type { IStatus } from '../../../src/interfaces/status';
import { compilationSummary, helloResult } from './structs';

/**
 * A connection whose kernel is the test.
 */
export class FakeConnection implements IConnection {
  status: IStatus = { kind: 'connecting' };
  isDisposed = false;
  isLive = true;
  statusChanged: Signal<IConnection, IStatus> = new Signal(this);
  opened: Signal<IConnection, HelloResult> = new Signal(this);
  event: Signal<IConnection, EventOf> = new Signal(this);
  interrupt = jest.fn(() => Promise.resolve());
  execute = jest.fn((_: string, isWanted?: () => boolean) => Promise.resolve());
  open = jest.fn(() => Promise.resolve());

  /**
   * What was asked and is not answered yet, the oldest first.
   */
  readonly asked: IAsked[] = [];

  /**
   * Everything that was ever asked: command and arguments.
   */
  readonly log: [string, unknown][] = [];

  request<K extends keyof Commands>(
    command: K,
    args: Commands[K]['arguments']
  ): Promise<Commands[K]['result']> {
    this.log.push([command, args]);
    return new Promise((resolve, reject) => {
      this.asked.push({
        command,
        args,
        resolve: resolve as (result: unknown) => void,
        reject
      });
    });
  }

  /**
   * Answer the oldest open request of a command.
   */
  async answer<K extends keyof Commands>(
    command: K,
    result: Commands[K]['result'] | Error
  ): Promise<void> {
    const index = this.asked.findIndex(request => request.command === command);
    if (index < 0) {
      throw new Error(`nobody asked for ${command}`);
    }
    const [asked] = this.asked.splice(index, 1);
    if (result instanceof Error) {
      asked.reject(result);
    } else {
      asked.resolve(result);
    }
    await settle();
  }

  setStatus(status: IStatus): void {
    this.status = status;
    this.statusChanged.emit(status);
  }

  hello(state: Partial<HelloResult> = {}): void {
    this.setStatus({ kind: 'ready' });
    this.opened.emit(helloResult(state));
  }

  /**
   * Tell of a subject that was just inspected, and answer with its report.
   */
  async inspect(id = 'f', change: Partial<ReportSummary> = {}): Promise<void> {
    this.event.emit({
      event: 'subjects_changed',
      data: { subjects: [subjectSummary(id)], focus: id, offer: null }
    });
    await this.answer('get_report', report(id, change));
  }

  dispose(): void {
    this.isDisposed = true;
  }
}

interface IAsked {
  command: keyof Commands;
  args: unknown;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/**
 * Let all promises that can settle do so.
 */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) {
    await Promise.resolve();
  }
}

export function variant(change: Partial<Variant> = {}): Variant {
  return {
    backend: 'inductor',
    mode: null,
    cpp_wrapper: false,
    dynamic: null,
    fullgraph: false,
    options: {},
    target: null,
    ...change
  };
}

export function variantSummary(
  name: string,
  requested: Partial<Variant> = {},
  change: Partial<VariantSummary> = {}
): VariantSummary {
  return {
    name,
    requested: variant(requested),
    stage: 'sources',
    stage_words: 'sources only',
    median_us: null,
    latency: '',
    interval_us: null,
    speedup: null,
    compile_s: null,
    accurate: null,
    compilations: [compilationSummary({ kernels: 1 })],
    recompiles: 0,
    breaks: 0,
    recompile_count: null,
    break_count: null,
    problems: [],
    verdict: null,
    studied: [],
    target: null,
    filled: [],
    changed: null,
    earlier: false,
    recorded: false,
    has_cpp_wrapper: variant(requested).cpp_wrapper,
    other_wrapper: '',
    ...change
  };
}

/**
 * How often something happened, as a report's overview counts it.
 */
export function counted(
  view: string,
  number: number,
  text: string,
  of = ''
): Count {
  return {
    ...{ view, number, text, warning: number > 0, of, why: '' },
    ...{ causes: [], remedy: '' }
  };
}

export function subjectSummary(id: string, revision = 1): SubjectSummary {
  return {
    subject: {
      id,
      name: id,
      kind: 'function',
      where: { file: '/tmp/ipykernel_1/1.py', line: 2, function: '', code: '' },
      call: null,
      arguments: ['x: float32[4] cpu'],
      device: 'cpu',
      cell: null,
      written: ''
    },
    revision,
    variants: ['python', 'cpp'],
    problems: 0,
    group: '',
    rank: null,
    ranks: 0
  };
}

export function overview(change: Partial<Overview> = {}): Overview {
  return {
    headline: '',
    failure: null,
    device: '',
    environment: '',
    results: [],
    targets: [],
    scale_us: 0,
    axis: '',
    scope: '',
    load: '',
    wrapper: null,
    limit: null,
    suggestions: [],
    counts: [],
    longer_s: 0,
    longer: '',
    needed_import: '',
    conflicts: [],
    ...change
  };
}

/**
 * The first two variants that are compiled, as those that a report names; of those
 * that were asked for, if there are two.
 */
export function sidesOf(
  variants: readonly VariantSummary[],
  asked: readonly string[] = []
): Sides {
  const names = variants
    .filter(({ requested }) => requested.backend !== null)
    .map(({ name }) => name);
  const own = names.filter(name => asked.includes(name));
  const [left = '', right = left] = own.length > 1 ? own : names;
  return { left, right };
}

export function report(
  id: string,
  change: Partial<ReportSummary> = {}
): ReportSummary {
  const variants = change.variants ?? [
    variantSummary('eager', { backend: null }),
    variantSummary('python'),
    variantSummary('cpp', { cpp_wrapper: true })
  ];
  return {
    revision: 1,
    subject: subjectSummary(id).subject,
    environment: {
      torch: '2.13.0',
      triton: null,
      python: '3.11',
      platform: 'linux',
      cpu: 'a cpu',
      threads: 2,
      gpus: [],
      compiler: '',
      compilescope: ''
    },
    variants,
    problems: [],
    listed_problems: [],
    files: { '/tmp/ipykernel_1/1.py': '%%compile\nf(x)\n' },
    peaks: [],
    sweep: null,
    rank: null,
    overview: null,
    trace: null,
    asked: [],
    ready: [],
    sides: sidesOf(variants, change.asked),
    ...change
  };
}

export function job(change: Partial<JobState> = {}): JobState {
  return {
    id: 'job-1',
    subject: 'f',
    state: 'queued',
    variant: '',
    step: '',
    fraction: null,
    error: null,
    kind: 'build',
    needs_main_thread: false,
    aside: false,
    elapsed_s: 0,
    time_words: [[1, '{elapsed}']],
    ...change
  };
}
