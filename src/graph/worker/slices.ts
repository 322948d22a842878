/**
 * Run a generator in slices, and let other work run in between.
 *
 * @param isCancelled - Called between slices; true stops it.
 * @returns Its result; null if it was stopped.
 */
export async function runInSlices<T>(
  steps: Generator<void, T, void>,
  isCancelled: () => boolean,
  milliseconds: number
): Promise<T | null> {
  let start = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) {
      return step.value;
    }
    if (performance.now() - start > milliseconds) {
      await turn();
      if (isCancelled()) {
        return null;
      }
      start = performance.now();
    }
  }
}

/**
 * Let messages, events and painting have their turn. A timer would wait for
 * longer.
 */
function turn(): Promise<void> {
  return new Promise(resolve => {
    if (typeof MessageChannel === 'undefined') {
      setTimeout(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
