import type { WorkerFactory } from './client';

/**
 * The worker as a file of its own, next to the extension's others: wherever the
 * server has put them.
 */
const fromFile: WorkerFactory = () =>
  typeof Worker === 'undefined'
    ? null
    : new Worker(new URL('./layout.worker.js', import.meta.url));

/**
 * The worker out of a text: for a page that is a single file.
 */
export function fromText(script: string): WorkerFactory {
  let url: string | null = null;
  return () => {
    // Created once: it holds the whole script until the page is closed.
    url ??= URL.createObjectURL(
      new Blob([script], { type: 'text/javascript' })
    );
    return new Worker(url);
  };
}

let chosen: WorkerFactory = fromFile;

/**
 * Have the graph view make its worker otherwise.
 */
export function setWorkerFactory(factory: WorkerFactory): void {
  chosen = factory;
}

/**
 * Make the worker that lays out graphs.
 */
export const makeWorker: WorkerFactory = () => chosen();
