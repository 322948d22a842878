import type { Kernel } from '@jupyterlab/services';
import { evaluate } from './execute';

/**
 * How a kernel stands to the package.
 *
 * - `serving`: its extension is loaded, panels are served.
 * - `unloaded`: the package is there, its extension is not loaded.
 * - `missing`: the package cannot be imported.
 */
export type Presence = 'serving' | 'unloaded' | 'missing';

const PROBE =
  "'serving' if getattr(__import__('sys').modules.get('compilescope.comms.endpoints')," +
  " 'is_serving', bool)() else" +
  " __import__('importlib.util', fromlist=['']).find_spec('compilescope') is not None";

/**
 * Ask a kernel on its main thread whether it has the package: it replies when
 * the current cell has finished.
 */
export async function probe(
  kernel: Kernel.IKernelConnection
): Promise<Presence> {
  const answer = await evaluate(kernel, PROBE).catch(() => null);
  switch (answer) {
    case "'serving'":
      return 'serving';
    case 'True':
      return 'unloaded';
    default:
      return 'missing';
  }
}
