import type { LayoutReply, LayoutRequest } from './messages';
import { serve } from './serve';

/**
 * The global scope of a worker, as far as it is needed.
 */
interface IScope {
  postMessage(reply: LayoutReply, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent<LayoutRequest>) => void) | null;
}

const scope = self as unknown as IScope;
const take = serve((reply, transfer) => scope.postMessage(reply, transfer));
scope.onmessage = event => take(event.data);
