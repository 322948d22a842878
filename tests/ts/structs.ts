import type {
  Compilation,
  CompilationSummary,
  Graph,
  HelloResult,
  Kernel,
  Launch,
  LaunchTime,
  Node,
  VariantReport
} from '../../src/protocol/types';
import { conform } from '../../src/model/file/conform';
import type { ILinked, ISelection } from '../../src/tokens';

/*
 * The protocol's structs with their defaults: a test gives what it is about, and
 * a new field changes no test. The casts leave room for fields that no test here
 * is about.
 */
export function compilationSummary(
  change: Partial<CompilationSummary> = {}
): CompilationSummary {
  return {
    id: '0/0',
    frame: 'f',
    artifacts: [],
    guards: 0,
    breaks: 0,
    kernels: 0,
    recompile: [],
    stages: [],
    nodes: 0,
    started_s: null,
    duration_s: null,
    cell: null,
    call: null,
    where: null,
    reduced: '',
    torch_id: '',
    cell_number: null,
    ...change
  } as CompilationSummary;
}

export function fullCompilation(
  change: Partial<Compilation> = {}
): Compilation {
  // The defaults of the kernel's struct, as a report's file is completed.
  return conform({ id: '0/0', ...change }, 'Compilation') as Compilation;
}

export function kernelOf(name: string, change: Partial<Kernel> = {}): Kernel {
  return {
    name,
    language: 'cpp',
    direction: 'inference',
    source: '',
    ops: [],
    modules: [],
    launches: [],
    nodes: [],
    sources: [],
    assembly: {},
    resources: {},
    absent: {},
    grid: '',
    estimated_bytes: null,
    estimated_operations: null,
    estimated_for: {},
    assembly_lines: {},
    limit: '',
    configs: [],
    check: null,
    fusion: null,
    tiling: null,
    baked: [],
    descriptors: [],
    ...change
  } as Kernel;
}

export function launchOf(key: string, time: LaunchTime | null = null): Launch {
  return {
    artifact: 'python',
    variant: 'python',
    line: 1,
    end: 1,
    key,
    text: '',
    estimated_bytes: null,
    estimated_operations: null,
    time,
    estimated_us: null,
    estimated_bound: '',
    estimated_launch_us: null
  };
}

export function launchTime(
  us: number,
  change: Partial<LaunchTime> = {}
): LaunchTime {
  return {
    us,
    interval_us: [us * 0.9, us * 1.1],
    calls: 50,
    device: 'cpu',
    bytes_per_s: null,
    operations_per_s: null,
    bandwidth_share: null,
    compute_share: null,
    how: '',
    ...change
  };
}

export function nodeOf(name: string, change: Partial<Node> = {}): Node {
  return {
    name,
    op: 'call_function',
    target: name,
    args: '',
    inputs: [],
    users: [],
    shape: null,
    stride: null,
    dtype: null,
    device: null,
    sources: [],
    module: null,
    module_type: null,
    line: null,
    stack: null,
    origins: [],
    ...change
  } as Node;
}

export function graphOf(
  stage: string,
  nodes: Node[] = [],
  change: Partial<Graph> = {}
): Graph {
  return {
    stage,
    text: '',
    nodes,
    absent: {},
    stacks: [],
    same_as: null,
    ...change
  };
}

export function variantReport(
  name: string,
  change: Partial<VariantReport> = {}
): VariantReport {
  return {
    name,
    requested: {
      backend: 'inductor',
      mode: null,
      cpp_wrapper: false,
      dynamic: null,
      fullgraph: false,
      options: {},
      target: null
    },
    stage: 'sources',
    effective: [],
    config: {},
    compilations: [],
    compile_time: null,
    warm_compile_time: null,
    breaks: [],
    timing: null,
    accuracy: [],
    cold: [],
    cold_gain: '',
    ways: [],
    kernel_loads: [],
    problems: [],
    absent: {},
    target: null,
    ...change
  } as VariantReport;
}

export function helloResult(change: Partial<HelloResult> = {}): HelloResult {
  return {
    protocol: 1,
    package: '0.1.0',
    torch: '2.13.0',
    choices: {
      backends: ['eager', 'inductor'],
      modes: ['default', 'max-autotune'],
      targets: []
    },
    subjects: [],
    job: null,
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
