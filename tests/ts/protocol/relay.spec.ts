import { MessageChannel as NodeChannel } from 'worker_threads';
import type { ToPanel } from '../../../src/protocol/portMessages';
import relay from '../../../src/relay';
import { Handle } from '../../../src/relay/handle';
import type { Callback, IModel } from '../../../src/relay/model';
import { isDark } from '../../../src/relay/theme';

/**
 * anywidget's model, whose kernel is the test.
 */
class FakeModel implements IModel {
  readonly sent: object[] = [];
  isGone = false;

  get(name: string): never {
    return { page: 'key', title: 'compilescope: f', height: 500 }[
      name
    ] as never;
  }

  send(content: object): void {
    if (this.isGone) {
      throw new Error('Cannot send');
    }
    this.sent.push(content);
  }

  on(name: string, callback: Callback): void {
    this._callbacks.push([name, callback]);
  }

  off(name: string, callback: Callback): void {
    this._callbacks = this._callbacks.filter(([, draw]) => draw !== callback);
  }

  say(name: string, ...args: unknown[]): void {
    for (const [of, callback] of [...this._callbacks]) {
      if (of === name) {
        callback(...args);
      }
    }
  }

  get listeners(): number {
    return this._callbacks.length;
  }

  private _callbacks: [string, Callback][] = [];
}

const PAGES = Symbol.for('compilescope.pages');

describe('the widget', () => {
  let model: FakeModel;
  let el: HTMLElement;
  let end: () => void;

  beforeAll(() => {
    // jsdom has neither.
    Object.assign(globalThis, { MessageChannel: NodeChannel });
    window.matchMedia ??= jest.fn(() => ({
      matches: false,
      addEventListener: jest.fn(),
      removeEventListener: jest.fn()
    })) as never;
  });

  beforeEach(() => {
    model = new FakeModel();
    el = document.body.appendChild(document.createElement('div'));
  });

  afterEach(() => {
    end();
    el.remove();
    delete (globalThis as { [PAGES]?: unknown })[PAGES];
  });

  function render(): void {
    end = relay.render({ model, el });
  }

  /**
   * The panel's end of the port, once the front end is there.
   */
  async function connect(): Promise<MessagePort> {
    const pages = new Map([['key', '<p>front end</p>']]);
    Object.assign(globalThis, { [PAGES]: pages });
    render();
    await new Promise(resolve => setTimeout(resolve));
    const frame = el.querySelector('iframe')!;
    const post = jest
      .spyOn(frame.contentWindow!, 'postMessage')
      .mockImplementation();
    frame.dispatchEvent(new Event('load'));
    const [message, origin, ports] = post.mock.calls[0] as unknown as [
      object,
      string,
      MessagePort[]
    ];
    expect(message).toMatchObject({ kind: 'compilescope-connect' });
    expect(origin).toBe('*');
    return ports[0];
  }

  function next(port: MessagePort): Promise<ToPanel> {
    return new Promise(resolve => {
      port.onmessage = event => resolve(event.data as ToPanel);
    });
  }

  it('asks for the front end, and says why there is none yet', () => {
    jest.useFakeTimers();
    render();
    expect(model.sent).toEqual([{ kind: 'page', request: null }]);
    expect(el.textContent).toBe('Opening the panel…');
    jest.advanceTimersByTime(5_000);
    expect(el.textContent).toContain('run the cell again');
    jest.useRealTimers();
  });

  it('does not ask for a front end that the window has', async () => {
    const port = await connect();
    expect(model.sent).toEqual([]);
    expect(el.querySelector('iframe')!.srcdoc).toBe('<p>front end</p>');
    port.close();
  });

  it('shows it in a frame of no origin', async () => {
    const port = await connect();
    const frame = el.querySelector('iframe')!;
    expect(frame.title).toBe('compilescope: f');
    expect(frame.getAttribute('sandbox')).toContain('allow-scripts');
    expect(frame.getAttribute('sandbox')).not.toContain('same-origin');
    port.close();
  });

  it('passes on what the kernel says', async () => {
    const port = await connect();
    const message = next(port);
    const data = { event: 'measured', data: {} };
    model.say('msg:custom', { kind: 'event', data }, []);
    expect(await message).toEqual({ kind: 'event', data });
    port.close();
  });

  it('passes on what the panel asks', async () => {
    const port = await connect();
    port.postMessage({ kind: 'request', request: { id: '1' } });
    port.postMessage({ kind: 'interrupt' });
    while (model.sent.length < 2) {
      await new Promise(resolve => setTimeout(resolve));
    }
    expect(model.sent).toEqual([
      { kind: 'request', request: { id: '1' } },
      { kind: 'interrupt', request: null }
    ]);
    port.close();
  });

  it('tells the panel of a kernel that has gone', async () => {
    const port = await connect();
    const message = next(port);
    model.isGone = true;
    port.postMessage({ kind: 'request', request: { id: '1' } });
    expect(await message).toEqual({ kind: 'closed' });
    port.close();
  });

  it('has it look where the notebook says that something changed', async () => {
    const port = await connect();
    const message = next(port);
    model.say('comm_live_update');
    expect(await message).toEqual({ kind: 'check' });
    port.close();
  });

  it('leaves nothing behind', async () => {
    const port = await connect();
    end();
    expect(el.childElementCount).toBe(0);
    expect(model.listeners).toBe(0);
    port.close();
  });
});

describe('isDark', () => {
  const { body, documentElement: root } = document;

  afterEach(() => {
    delete body.dataset.jpThemeLight;
    delete body.dataset.vscodeThemeKind;
    root.removeAttribute('theme');
    body.className = '';
    body.style.backgroundColor = '';
  });

  it.each([
    ['JupyterLab', () => (body.dataset.jpThemeLight = 'false'), true],
    ['JupyterLab', () => (body.dataset.jpThemeLight = 'true'), false],
    ['VS Code', () => (body.dataset.vscodeThemeKind = 'vscode-dark'), true],
    [
      'VS Code',
      () => (body.dataset.vscodeThemeKind = 'vscode-high-contrast'),
      true
    ],
    [
      'VS Code',
      () => (body.dataset.vscodeThemeKind = 'vscode-high-contrast-light'),
      false
    ],
    ['Colab', () => root.setAttribute('theme', 'dark'), true],
    ['marimo', () => body.classList.add('dark'), true],
    ['another', () => (body.style.backgroundColor = 'rgb(20, 20, 20)'), true],
    [
      'another',
      () => (body.style.backgroundColor = 'rgb(250, 250, 250)'),
      false
    ]
  ])('knows a theme of %s', (_, set, dark) => {
    set();
    expect(isDark(body)).toBe(dark);
  });
});

describe('Handle', () => {
  it('takes the arrows, within bounds', () => {
    const set = jest.fn();
    const { node } = new Handle(300, set);
    const press = (key: string) =>
      node.dispatchEvent(new KeyboardEvent('keydown', { key }));
    press('ArrowDown');
    expect(set).toHaveBeenLastCalledWith(340);
    for (let count = 0; count < 5; count++) {
      press('ArrowUp');
    }
    expect(set).toHaveBeenLastCalledWith(240);
    expect(node.getAttribute('aria-valuenow')).toBe('240');
  });
});
