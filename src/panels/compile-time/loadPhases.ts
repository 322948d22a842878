import type { TranslationBundle } from '@jupyterlab/translation';
import type { KernelLoad, LoadSpan, Phase } from '../../protocol/types';

/**
 * What can be seen of a kernel on the time line.
 */
export type LoadStep = LoadSpan['step'];

/**
 * What a step is called.
 */
export function stepTitle(step: LoadStep, trans: TranslationBundle): string {
  switch (step) {
    case 'compile':
      return trans.__('compiled');
    case 'load':
      return trans.__('loaded');
    case 'autotune':
      return trans.__('tuned');
    case 'first_run':
      return trans.__('first run');
    case 'later_run':
      return trans.__('later run');
  }
}

/**
 * The steps of a compilation's kernels as spans of a time line.
 */
export interface IKernelPhases {
  /**
   * Empty where it is not known whose kernels they are.
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
 * What is known of kernels as spans, compilation by compilation. What is done
 * meanwhile is on a track of its own.
 */
export function kernelPhases(
  loads: readonly KernelLoad[],
  trans: TranslationBundle
): IKernelPhases[] {
  const spansOf = (compilation: string, isLater: boolean): Phase[] =>
    loads
      .filter(load => load.compilation === compilation)
      .flatMap(({ kernel, spans }) =>
        spans
          .filter(({ step }) => (step === 'later_run') === isLater)
          .map(({ step, start_us, us, background }) => ({
            name: kernel,
            detail: stepTitle(step, trans),
            kind: step,
            start_us,
            duration_us: us,
            track: background ? 1 : 0,
            children: []
          }))
      );
  const ids = new Set(loads.map(({ compilation }) => compilation));
  return [...ids].map(compilation => ({
    compilation,
    first: spansOf(compilation, false),
    later: spansOf(compilation, true)
  }));
}
