import type { FromPanel, IConnect, ToPanel } from '../protocol/portMessages';
import type { FromWidget, ToWidget } from '../protocol/types';
import { Handle } from './handle';
import type { IModel } from './model';
import { getPage } from './page';
import { isDark, watchTheme } from './theme';

/**
 * How long to wait for the front end before saying why there is none yet, in
 * milliseconds.
 */
const FRONT_END_TIMEOUT_MS = 5_000;

/**
 * What a notebook may say of a widget whose kernel has gone, or is back.
 */
const CHANGES = ['comm_live_update', 'comm:close'];

const OPENING = 'Opening the panel…';

const WAITING =
  'The kernel has not answered yet. If it runs a cell, the panel opens when that is done. ' +
  'If this notebook is open without the kernel that made the panel, run the cell again.';

const GONE =
  'The kernel that made this panel is gone. Run the cell again to open it.';

/**
 * One view of a widget: the front end in a frame of its own, so that neither
 * its styles nor the notebook's reach the other, and what the two say passed on.
 */
export class PanelView {
  constructor(
    private _model: IModel,
    private _parent: HTMLElement
  ) {
    Object.assign(this._root.style, { width: '100%', boxSizing: 'border-box' });
    this._notice.setAttribute('role', 'status');
    this._notice.textContent = OPENING;
    Object.assign(this._notice.style, { margin: '8px', font: 'inherit' });
    this._root.append(this._notice);
    _parent.append(this._root);
    this._stopTheme = watchTheme(() => this._postAppearance());
    _model.on('msg:custom', this._onKernel);
    for (const name of CHANGES) {
      _model.on(name, this._onChange);
    }
    document.addEventListener('keydown', this._onKey);
    void this._open();
  }

  dispose(): void {
    this._ended.abort();
    clearTimeout(this._timer);
    this._stopTheme();
    this._model.off('msg:custom', this._onKernel);
    for (const name of CHANGES) {
      this._model.off(name, this._onChange);
    }
    document.removeEventListener('keydown', this._onKey);
    this._port?.close();
    this._root.remove();
  }

  private async _open(): Promise<void> {
    this._timer = window.setTimeout(() => {
      this._notice.textContent = WAITING;
    }, FRONT_END_TIMEOUT_MS);
    let page: string;
    try {
      page = await getPage(this._model, this._ended.signal);
    } catch {
      this._notice.textContent = GONE;
      return;
    } finally {
      clearTimeout(this._timer);
    }
    if (!this._ended.signal.aborted) {
      this._notice.remove();
      this._show(page);
    }
  }

  private _show(page: string): void {
    const { _frame, _handle } = this;
    // Of no origin: what it shows was generated from the user's code.
    _frame.setAttribute(
      'sandbox',
      'allow-scripts allow-downloads allow-modals allow-popups allow-popups-to-escape-sandbox'
    );
    _frame.allow = 'clipboard-write';
    _frame.title = this._model.get('title');
    Object.assign(_frame.style, {
      display: 'block',
      width: '100%',
      border: 'none'
    });
    // Also when the notebook puts the frame elsewhere, which loads it again.
    _frame.addEventListener('load', () => this._connect());
    _frame.srcdoc = page;
    this._root.append(_frame, _handle.node);
  }

  private _connect(): void {
    this._port?.close();
    const { port1, port2 } = new MessageChannel();
    this._port = port1;
    port1.onmessage = event => this._onPanel(event.data as FromPanel);
    const message: IConnect = {
      kind: 'compilescope-connect',
      appearance: this._appearanceOf()
    };
    this._frame.contentWindow?.postMessage(message, '*', [port2]);
  }

  private _onPanel(message: FromPanel): void {
    switch (message.kind) {
      case 'request':
        this._send({ kind: 'request', request: { ...message.request } });
        break;
      case 'interrupt':
        this._send({ kind: 'interrupt', request: null });
        break;
      case 'fill':
        this._fill(message.isFull);
        break;
    }
  }

  private _onKernel = (message: ToWidget): void => {
    if (message.kind !== 'page') {
      // Replies to other views of the widget come as well: their ids tell.
      this._post({ kind: message.kind, data: message.data });
    }
  };

  private _onChange = (): void => this._post({ kind: 'check' });

  private _onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this._isFull) {
      this._fill(false);
    }
  };

  private _send(message: FromWidget): void {
    try {
      this._model.send(message);
    } catch {
      // The comm went with its kernel.
      this._post({ kind: 'closed' });
    }
  }

  private _post(message: ToPanel): void {
    this._port?.postMessage(message);
  }

  private _appearanceOf(): IConnect['appearance'] {
    return {
      isDark: isDark(this._parent),
      isFull: this._isFull,
      // VS Code replaces its frame's `parent`; nothing can replace `top`.
      canFill: window.top === window
    };
  }

  private _postAppearance(): void {
    this._post({ kind: 'appearance', appearance: this._appearanceOf() });
  }

  /**
   * Fill the window, or return to the cell. A popover is on top of everything
   * without moving the frame, which would reload it.
   */
  private _fill(isFull: boolean): void {
    const { _root, _frame, _handle } = this;
    if (isFull === this._isFull) {
      return;
    }
    this._isFull = isFull;
    if (isFull) {
      _root.popover = 'manual';
      _root.showPopover();
    } else {
      _root.hidePopover();
      _root.popover = null;
    }
    Object.assign(_root.style, {
      width: isFull ? '100vw' : '100%',
      height: isFull ? '100vh' : '',
      maxWidth: isFull ? 'none' : '',
      maxHeight: isFull ? 'none' : '',
      inset: isFull ? '0' : '',
      margin: isFull ? '0' : '',
      padding: isFull ? '0' : '',
      border: isFull ? 'none' : ''
    });
    _frame.style.height = isFull ? '100%' : `${_handle.height}px`;
    _handle.node.hidden = isFull;
    this._postAppearance();
  }

  private _ended = new AbortController();
  private _isFull = false;
  private _port: MessagePort | null = null;
  private _timer = 0;
  private _stopTheme: () => void;
  private _root = document.createElement('div');
  private _notice = document.createElement('p');
  private _frame = document.createElement('iframe');
  private _handle = new Handle(this._model.get('height'), height => {
    this._frame.style.height = `${height}px`;
  });
}
