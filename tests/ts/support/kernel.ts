import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { KernelMock } from '@jupyterlab/services/lib/testutils';
import type { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

/**
 * One end of a comm, with the kernel's end in the test's hands.
 */
class FakeComm {
  constructor(readonly targetName: string) {}

  readonly commId = `comm-${++FakeComm.count}`;
  readonly sent: JSONObject[] = [];
  readonly subshellStarted = new Promise<void>(resolve => {
    this.startSubshell = resolve;
  });
  startSubshell!: () => void;
  isDisposed = false;
  isClosed = false;
  opened: JSONObject | null = null;
  onMsg: (message: KernelMessage.ICommMsgMsg) => void = () => undefined;
  onClose: (message: KernelMessage.ICommCloseMsg) => void = () => undefined;

  open(data: JSONObject): void {
    this.opened = data;
  }

  send(data: JSONObject): void {
    this.sent.push(data);
  }

  close(): void {
    this.isClosed = true;
    this.dispose();
  }

  dispose(): void {
    this.isDisposed = true;
  }

  /**
   * The kernel sends a message.
   */
  receive(data: unknown): void {
    this.onMsg({ content: { data } } as unknown as KernelMessage.ICommMsgMsg);
  }

  /**
   * The kernel closes the comm.
   */
  closeFromKernel(): void {
    this.isDisposed = true;
    this.onClose({} as KernelMessage.ICommCloseMsg);
  }

  private static count = 0;
}

/**
 * A kernel with comms.
 */
export interface IFakeKernel {
  kernel: Kernel.IKernelConnection;
  comms: FakeComm[];

  /**
   * The open comm of a target.
   */
  comm(target: string): FakeComm;
  setStatus(status: KernelMessage.Status): void;
  setSocket(status: Kernel.ConnectionStatus): void;

  /**
   * The kernel's reply to the probe for the extension.
   */
  probeReply: string | null;
}

export function fakeKernel(
  options: { language?: string; subshells?: boolean } = {}
): IFakeKernel {
  const kernel = new KernelMock({}) as unknown as Record<string, unknown>;
  const comms: FakeComm[] = [];
  const socket = new Signal<unknown, Kernel.ConnectionStatus>(kernel);
  const fake: IFakeKernel = {
    kernel: kernel as unknown as Kernel.IKernelConnection,
    comms,
    probeReply: "'serving'",
    comm: target => {
      const open = comms.filter(
        fakeComm => fakeComm.targetName === target && !fakeComm.isDisposed
      );
      if (open.length !== 1) {
        throw new Error(`${open.length} open comms of ${target}`);
      }
      return open[0];
    },
    setStatus: status => {
      kernel.status = status;
      if (status === 'restarting' || status === 'autorestarting') {
        // As JupyterLab: disposed without a call of onClose.
        comms.forEach(fakeComm => fakeComm.dispose());
      }
      (kernel.statusChanged as Signal<unknown, string>).emit(status);
    },
    setSocket: status => socket.emit(status)
  };
  Object.assign(kernel, {
    isDisposed: false,
    info: Promise.resolve({
      language_info: { name: options.language ?? 'python' }
    }),
    handleComms: true,
    supportsSubshells: options.subshells ?? false,
    commsOverSubshells: 'perCommTarget',
    connectionStatusChanged: socket,
    interrupt: jest.fn(() => Promise.resolve()),
    createComm: (target: string) => {
      const comm = new FakeComm(target);
      comms.push(comm);
      return comm;
    },
    requestExecute: jest.fn(() => ({
      done: Promise.resolve({
        content: {
          status: 'ok',
          user_expressions:
            fake.probeReply === null
              ? {}
              : {
                  value: {
                    status: 'ok',
                    data: { 'text/plain': fake.probeReply }
                  }
                }
        }
      })
    }))
  });
  return fake;
}
