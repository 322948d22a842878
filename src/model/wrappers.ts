import type { Kernel, Launch } from '../protocol/types';

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
export function isOfAnotherGraph({ key }: Pick<Launch, 'key'>): boolean {
  return /^launch:[a-z]+\.\d+:/.test(key);
}
