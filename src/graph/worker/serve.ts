import { CompoundLayout } from '../layout/compound';
import type { LayoutReply, LayoutRequest } from './messages';
import { runInSlices } from './slices';

/**
 * How long the worker works before it looks for a message.
 */
const SLICE_MS = 30;

/**
 * Answer requests in the worker.
 *
 * @returns A handler for incoming messages.
 */
export function serve(
  post: (reply: LayoutReply, transfer: Transferable[]) => void
): (request: LayoutRequest) => void {
  let layout: CompoundLayout | null = null;
  let current = -1;
  let last: Promise<unknown> = Promise.resolve();
  return request => {
    switch (request.kind) {
      case 'graph':
        layout = new CompoundLayout(request.graph);
        current = -1;
        break;
      case 'cancel':
        current = current === request.id ? -1 : current;
        break;
      case 'layout': {
        const { id, open } = request;
        const compound = layout;
        current = id;
        // One at a time: the last request wins.
        last = last.then(() => run(compound, id, open));
        break;
      }
    }
  };

  async function run(
    compound: CompoundLayout | null,
    id: number,
    open: Uint8Array
  ): Promise<void> {
    if (!compound || current !== id) {
      return;
    }
    try {
      const start = performance.now();
      const result = await runInSlices(
        compound.run(open),
        () => current !== id,
        SLICE_MS
      );
      if (result) {
        const milliseconds = performance.now() - start;
        const { items, boxes, starts, points, from, to } = result;
        const { sources, counts, far } = result;
        const parts = [items, boxes, starts, points, from, to];
        post(
          { kind: 'done', id, layout: result, milliseconds },
          [...parts, sources, counts, far].map(array => array.buffer)
        );
      }
    } catch (error) {
      post({ kind: 'failed', id, message: String(error) }, []);
    }
  }
}
