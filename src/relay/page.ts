import type { FromWidget, PagePart, ToWidget } from '../protocol/types';
import type { IModel } from './model';

/**
 * The pages that this window has, by their keys: each comes from the kernel
 * once, however many panels show it.
 */
const PAGES = Symbol.for('compilescope.pages');

function known(): Map<string, string> {
  const store = globalThis as { [PAGES]?: Map<string, string> };
  return (store[PAGES] ??= new Map());
}

/**
 * The front end as a page of HTML, from the kernel if need be.
 *
 * @param signal - Gives it up.
 */
export function getPage(model: IModel, signal: AbortSignal): Promise<string> {
  const key = model.get('page');
  const page = known().get(key);
  if (page !== undefined) {
    return Promise.resolve(page);
  }
  return new Promise((resolve, reject) => {
    const pieces: BlobPart[] = [];
    const stop = () => model.off('msg:custom', take);
    const take = (message: ToWidget, buffers: BlobPart[]) => {
      const part = message.data as unknown as PagePart;
      if (message.kind !== 'page' || part.key !== key) {
        return;
      }
      // They come twice where two views of the widget ask for them.
      pieces[part.part] = buffers[0];
      if (Object.keys(pieces).length === part.parts) {
        stop();
        unpack(pieces).then(text => {
          known().set(key, text);
          resolve(text);
        }, reject);
      }
    };
    model.on('msg:custom', take);
    signal.addEventListener('abort', stop);
    const question: FromWidget = { kind: 'page', request: null };
    model.send(question);
  });
}

function unpack(pieces: BlobPart[]): Promise<string> {
  const packed = new Blob(pieces).stream();
  return new Response(
    packed.pipeThrough(new DecompressionStream('gzip'))
  ).text();
}
