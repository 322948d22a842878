import type { Kernel, Launch, VariantSummary } from '../protocol/types';

/**
 * The name of the artifact that a graph's wrapper is: `python`, `backward.cpp`.
 * torch may compile several graphs of one direction; the first alone has a text.
 */
export function wrapperName<Artifact extends string>(
  direction: Kernel['direction'],
  artifact: Artifact
): Artifact | `backward.${Artifact}` {
  return direction === 'backward' ? `backward.${artifact}` : artifact;
}

/**
 * Whether a launch is of a further graph of its direction: its key names that,
 * as in `launch:forward.2:#1`.
 */
export function isOfFurtherGraph({ key }: Pick<Launch, 'key'>): boolean {
  return /^launch:[a-z]+\.\d+:/.test(key);
}

/**
 * Whether a variant's wrapper is in C++. One that the cell compiled itself may have
 * it by an option of its own, which `requested` does not know.
 */
export function hasCppWrapper({
  requested,
  compilations
}: Pick<VariantSummary, 'requested' | 'compilations'>): boolean {
  const names = new Set(
    compilations.flatMap(({ artifacts }) => artifacts.map(({ name }) => name))
  );
  return requested.cpp_wrapper || (names.has('cpp') && !names.has('python'));
}
