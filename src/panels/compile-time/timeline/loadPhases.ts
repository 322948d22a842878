import type { KernelLoad, LoadSpan, Phase } from '../../../protocol/types';
import { LOAD_STEPS } from '../../../protocol/types';

/**
 * The steps of a kernel that the timeline shows.
 */
export type LoadStep = LoadSpan['step'];

/**
 * The steps of a compilation's kernels as spans of a timeline.
 */
export interface IKernelPhases {
  /**
   * Empty if it is unknown to which compilation the kernels belong.
   */
  readonly compilation: string;

  /**
   * On the axis of the first call's phases.
   */
  readonly first: readonly Phase[];

  /**
   * In a later call, from its first launch on.
   */
  readonly later: readonly Phase[];
}

/**
 * The steps of kernels as spans, by compilation. Concurrent steps have a
 * separate track.
 */
export function kernelPhases(loads: readonly KernelLoad[]): IKernelPhases[] {
  const phasesOf = (compilation: string, isLater: boolean): Phase[] =>
    loads
      .filter(load => load.compilation === compilation)
      .flatMap(({ kernel, spans, first_run_us, warm_run_us }) =>
        nested(
          spans
            .filter(({ step }) => (step === 'later_run') === isLater)
            .map(({ step, start_us, us, background }) => ({
              name: kernel,
              detail: LOAD_STEPS[step],
              kind: step,
              start_us,
              duration_us: us,
              // The rest of a run, without compiling, loading and tuning.
              self_us:
                (step === 'first_run'
                  ? first_run_us
                  : step === 'later_run'
                    ? warm_run_us
                    : us) ?? us,
              track: background ? 1 : 0,
              children: []
            }))
        )
      );
  const ids = new Set(loads.map(({ compilation }) => compilation));
  return [...ids].map(compilation => ({
    compilation,
    first: phasesOf(compilation, false),
    later: phasesOf(compilation, true)
  }));
}

/** Nests the compiling, loading and tuning that a kernel's first run includes in that run. */
function nested(phases: readonly Phase[]): Phase[] {
  const run = phases.find(({ kind }) => kind === 'first_run');
  if (!run) {
    return [...phases];
  }
  const end = run.start_us + run.duration_us;
  const isInside = ({ start_us }: Phase) =>
    start_us >= run.start_us && start_us <= end;
  const others = phases.filter(phase => phase !== run);
  return [
    ...others.filter(phase => !isInside(phase)),
    { ...run, children: others.filter(isInside) }
  ];
}
