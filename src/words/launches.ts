import type { Kernel, Launch } from '../protocol/types';
import type { ISubjectModel } from '../interfaces/subject';
import { isOfAnotherGraph, wrapperName } from '../model/wrappers';

/**
 * Whether the study `kernels` has timed a variant's launches.
 */
export function isStudied(
  model: ISubjectModel,
  variant: string,
  study: string
): boolean {
  return !!model.report?.variants
    .find(({ name }) => name === variant)
    ?.studied.includes(study);
}

/**
 * Line → the launch on that line, in one of the wrappers.
 *
 * @param artifact - The wrapper's name, `python` or `backward.cpp`.
 */
export function launchesByLine(
  kernels: readonly Pick<Kernel, 'direction' | 'launches'>[],
  artifact: string
): ReadonlyMap<number, Launch> {
  const byLine = new Map<number, Launch>();
  for (const { direction, launches } of kernels) {
    for (const launch of launches) {
      const isHere = wrapperName(direction, launch.artifact) === artifact;
      if (isHere && !isOfAnotherGraph(launch)) {
        byLine.set(launch.line, launch);
      }
    }
  }
  return byLine;
}
