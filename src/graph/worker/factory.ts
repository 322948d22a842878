import type { WorkerFactory } from './client';

/**
 * The worker as a separate file, next to the extension's other files.
 */
const fromFile: WorkerFactory = () =>
  typeof Worker === 'undefined'
    ? null
    : new Worker(new URL('./layout.worker.js', import.meta.url));

/**
 * The worker from a text, for a page that is a single file.
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
 * Change how the graph view creates its worker.
 */
export function setWorkerFactory(factory: WorkerFactory): void {
  chosen = factory;
}

/**
 * Make the worker that lays out graphs.
 */
export const makeWorker: WorkerFactory = () => chosen();
