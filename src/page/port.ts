import type { IAppearance } from '../protocol/portMessages';
import { isConnect } from '../protocol/portMessages';

/**
 * Call back once whoever shows this page has sent a port, if that ever happens.
 */
export function whenConnected(
  callback: (port: MessagePort, appearance: IAppearance) => void
): void {
  window.addEventListener('message', function connect({ source, data, ports }) {
    if (source === window.parent && isConnect(data) && ports.length) {
      window.removeEventListener('message', connect);
      callback(ports[0], data.appearance);
    }
  });
}
