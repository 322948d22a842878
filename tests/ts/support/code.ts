import { Signal } from '@lumino/signaling';
import type {
  Artifact,
  ArtifactResult,
  CompilationSummary,
  Region,
  ReportSummary,
  Variant,
  VariantSummary
} from '../../../src/protocol/types';
import type { IStatus } from '../../../src/interfaces/status';
import type { ISides } from '../../../src/interfaces/subject';
import { sidesOf, variantSummary } from './fakes';
import { compilationSummary } from './structs';

/** A region; only what a test is about need be given. */
export function region(
  kind: Region['kind'],
  start: number,
  end: number,
  key = '',
  more: Partial<Region> = {}
): Region {
  return {
    kind,
    start,
    end,
    key,
    label: '',
    kernel: null,
    nodes: [],
    sources: [],
    ...more
  };
}

export function artifact(
  name: string,
  group: Artifact['group'] = 'code',
  language = 'python'
): Artifact {
  return {
    name,
    label: name,
    group,
    language,
    lines: 1,
    forms: [],
    configs: []
  };
}

/** A text with its regions, as the kernel answers. */
export function artifactResult(
  name: string,
  text: string,
  regions: Region[] = []
): ArtifactResult {
  return { artifact: artifact(name), text, regions, lines: [], source: '' };
}

export function compilation(
  id: string,
  artifacts: Artifact[]
): CompilationSummary {
  return compilationSummary({ id, frame: '', artifacts });
}

export function variant(
  name: string,
  compilations: CompilationSummary[],
  requested: Partial<Variant> = {},
  more: Partial<VariantSummary> = {}
): VariantSummary {
  return variantSummary(name, requested, {
    stage: 'built',
    compilations,
    ...more
  });
}

/** As much of a model as the sides of the Code view look at. */
export class SidesModel {
  report: ReportSummary | null = null;
  compilation = '0/0';
  pending = false;
  isLive = true;
  status: IStatus = { kind: 'ready' };
  job = null;
  statusChanged = new Signal<this, IStatus>(this);
  reportChanged = new Signal<this, void>(this);
  selectedVariantsChanged = new Signal<this, ISides>(this);
  compilationChanged = new Signal<this, string>(this);
  requestedChanged = new Signal<this, void>(this);
  jobChanged = new Signal<this, void>(this);

  get selectedVariants(): ISides {
    return this._variants ?? this.report?.sides ?? { left: '', right: '' };
  }

  set selectedVariants(value: ISides) {
    this._variants = value;
    this.selectedVariantsChanged.emit(value);
  }

  private _variants: ISides | null = null;
}

export function report(
  variants: VariantSummary[],
  subject = 'subject'
): ReportSummary {
  return {
    revision: 1,
    subject: {
      id: subject,
      name: subject,
      kind: 'function',
      where: null,
      call: null,
      arguments: [],
      device: 'cpu',
      cell: null,
      written: ''
    },
    environment: {
      torch: '',
      triton: null,
      python: '',
      platform: '',
      cpu: '',
      threads: 0,
      gpus: [],
      compiler: '',
      compilescope: ''
    },
    variants,
    problems: [],
    listed_problems: [],
    files: {},
    peaks: [],
    sweep: null,
    rank: null,
    asked: [],
    ready: [],
    sides: sidesOf(variants),
    overview: null,
    trace: null
  };
}

/** A generator of numbers in [0, 1) that a seed fixes (mulberry32). */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
