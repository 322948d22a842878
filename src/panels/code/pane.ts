import { openSearchPanel } from '@codemirror/search';
import { Clipboard } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Panel } from '@lumino/widgets';
import type { EditorView } from '@codemirror/view';
import type { IAddress, Side } from '../../code/artifacts';
import { CodeBody } from './body';
import { PaneHeader, type IHeaderState } from './header';

/**
 * One side: a header and a text.
 */
export class Pane extends Panel {
  /**
   * @param pick Called when the user selects something else to show.
   * @param shown The editor that currently shows this side's text; not the
   * pane's own one while a diff is shown.
   */
  constructor(
    side: Side,
    pick: (change: Partial<IAddress>) => void,
    shown: () => EditorView | null,
    wrapChanged: () => void,
    trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-Compilescope-code-pane');
    this.body = new CodeBody(trans);
    this._header = new PaneHeader(
      side,
      {
        pick,
        copy: () => {
          const view = shown();
          if (view) {
            Clipboard.copyToSystem(view.state.doc.toString());
          }
        },
        fold: on => this.body.fold(on),
        wrap: on => {
          this._wrap = on;
          wrapChanged();
        },
        search: () => {
          const view = shown();
          if (view) {
            openSearchPanel(view);
          }
        }
      },
      trans
    );
    this.addWidget(this._header);
    this.addWidget(this.body);
  }

  readonly body: CodeBody;

  /** Whether long lines wrap. */
  get wrap(): boolean {
    return this._wrap;
  }

  /** Shows the current choice. */
  setHeader(state: Omit<IHeaderState, 'wrap'> | null): void {
    this._header.state = state && { ...state, wrap: this._wrap };
  }

  private _header: PaneHeader;
  private _wrap = false;
}
