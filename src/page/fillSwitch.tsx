import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { FromPanel, IAppearance, ToPanel } from '../protocol/portMessages';

/**
 * The switch between a place in a cell's output and the whole window.
 */
export class FillSwitch extends ReactWidget {
  /**
   * @param _port - Leads to who shows the page, and says what fills the window.
   * @param appearance - Whether the page does at first, and can.
   * @param _trans - Translates.
   */
  constructor(
    private _port: MessagePort,
    appearance: IAppearance,
    private _trans: TranslationBundle
  ) {
    super();
    this._isFull = appearance.isFull;
    this.setHidden(!appearance.canFill);
    _port.addEventListener('message', ({ data }: MessageEvent) => {
      const message = data as ToPanel;
      if (message.kind === 'appearance') {
        this._isFull = message.appearance.isFull;
        this.update();
      }
    });
    document.addEventListener('keydown', event => {
      if (event.key === 'Escape' && this._isFull && !event.defaultPrevented) {
        this._ask(false);
      }
    });
  }

  protected override render(): JSX.Element {
    return (
      <button
        type="button"
        className="jp-Compilescope-button"
        aria-pressed={this._isFull}
        onClick={() => this._ask(!this._isFull)}
      >
        {this._trans.__('Full window')}
      </button>
    );
  }

  private _isFull: boolean;

  private _ask(isFull: boolean): void {
    // At once: Escape may come before the answer does.
    this._isFull = isFull;
    this.update();
    const message: FromPanel = { kind: 'fill', isFull };
    this._port.postMessage(message);
  }
}
