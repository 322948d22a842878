import type {
  Compilation,
  CompilationSummary,
  Graph,
  HelloResult,
  Kernel,
  Launch,
  LaunchTime,
  Node,
  VariantReport,
  WatchState
} from '../../../src/protocol/types';
import { DEFAULT_VARIANT } from '../../../src/model/variants';
import {
  conformCompilation,
  conformCompilationSummary,
  conformGraph,
  conformKernel,
  conformLaunch,
  conformLaunchTime,
  conformNode,
  conformVariantReport
} from '../../../src/protocol/conform';
import type { ILinked, ISelection } from '../../../src/interfaces/selection';

/*
 * The protocol's structs with their defaults: a test gives what it is about, and
 * a new field changes no test. The casts leave room for fields that no test here
 * is about.
 */
export function compilationSummary(
  change: Partial<CompilationSummary> = {}
): CompilationSummary {
  const name = change.where?.function || 'f';
  return complete(conformCompilationSummary, {
    id: '0/0',
    frame: 'f',
    name,
    ...change
  });
}

export function watchState(change: Partial<WatchState> = {}): WatchState {
  return {
    on: true,
    subject: 'watch-1',
    since_s: 1,
    compilations: 0,
    reduced: 0,
    held_bytes: 1.2e6,
    problem: null,
    budget_bytes: 256e6,
    left_out: 0,
    recompiles: 0,
    failures: 0,
    fallbacks: 0,
    breaks: 0,
    break_occurrences: 0,
    seconds: 0.25,
    latest: [],
    counts: [],
    ...change
  };
}

export function fullCompilation(
  change: Partial<Compilation> = {}
): Compilation {
  return complete(conformCompilation, { id: '0/0', ...change });
}

export function kernelOf(name: string, change: Partial<Kernel> = {}): Kernel {
  return complete(conformKernel, { name, language: 'cpp', ...change });
}

export function launchOf(key: string, time: LaunchTime | null = null): Launch {
  return complete<Launch>(conformLaunch, {
    artifact: 'python',
    variant: 'python',
    line: 1,
    end: 1,
    key,
    time
  });
}

export function launchTime(us: number): LaunchTime {
  return complete<LaunchTime>(conformLaunchTime, { us });
}

export function nodeOf(name: string, change: Partial<Node> = {}): Node {
  return complete(conformNode, {
    name,
    op: 'call_function',
    target: name,
    ...change
  });
}

export function graphOf(
  stage: string,
  nodes: Node[] = [],
  change: Partial<Graph> = {}
): Graph {
  return complete(conformGraph, { stage, text: '', nodes, ...change });
}

export function variantReport(
  name: string,
  change: Partial<VariantReport> = {}
): VariantReport {
  return complete(conformVariantReport, {
    name,
    requested: DEFAULT_VARIANT,
    ...change
  });
}

/** A struct with the defaults of its fields, as in a file that lacks them. */
function complete<T>(check: (value: unknown) => void, given: Partial<T>): T {
  check(given);
  return given as T;
}

export function helloResult(change: Partial<HelloResult> = {}): HelloResult {
  return {
    protocol: 1,
    package: '0.1.0',
    torch: '2.13.0',
    choices: {
      backends: ['eager', 'inductor'],
      modes: ['default', 'max-autotune'],
      targets: [],
      executors: []
    },
    subjects: [],
    jobs: [],
    watching: null,
    tiers: [],
    session: 'session-1',
    ...change
  } as HelloResult;
}

export function selection(change: Partial<ISelection> = {}): ISelection {
  return {
    key: null,
    source: null,
    node: null,
    kernel: null,
    text: null,
    origin: null,
    ...change
  };
}

export function linked(change: Partial<ILinked> = {}): ILinked {
  return {
    keys: new Set(),
    kernels: new Set(),
    nodes: new Map(),
    sources: [],
    missing: '',
    ...change
  };
}
