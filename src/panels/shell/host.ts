import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import { PanelLayout, Widget } from '@lumino/widgets';
import { problem, problemOf } from '../../protocol/client';
import { renderMessage } from '../common/states/message';
import type { ISectioned, IView, IViewContext, LoadView } from '../views';
import { HeldModel } from './hiddenView';

/**
 * The place of one view. The view is created when the place first becomes
 * visible, and is not updated while it is hidden.
 */
export class ViewHost extends Widget {
  constructor(private _options: ViewHost.IOptions) {
    super();
    this.layout = new PanelLayout({ fitPolicy: 'set-min-size' });
    this.addClass('jp-Compilescope-host');
    this._held = new HeldModel(_options.context.model);
  }

  /**
   * The view; null until it is created.
   */
  get content(): Widget | null {
    return this._content;
  }

  /**
   * Scrolls to a section of the view, if it has sections, as soon as the view
   * exists.
   */
  showSection(section: string): void {
    this._section = section;
    if (isSectioned(this._content)) {
      this._content.showSection(section);
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._held.dispose();
      super.dispose();
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._updateOpen();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._updateOpen();
  }

  protected override onBeforeHide(message: Message): void {
    super.onBeforeHide(message);
    this._held.isOpen = false;
  }

  protected override onBeforeDetach(message: Message): void {
    super.onBeforeDetach(message);
    this._held.isOpen = false;
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    this._content?.activate();
  }

  private _updateOpen(): void {
    this._held.isOpen = this.isVisible;
    if (this.isVisible && !this._isCreated) {
      void this._create();
    }
  }

  private async _create(): Promise<void> {
    const { view, load, context, trans } = this._options;
    this._isCreated = true;
    this._showMessage(renderMessage({ what: trans.__('Loading…') }, trans));
    let content: Widget;
    try {
      content = await load(view.id, { ...context, model: this._held.model });
    } catch (error) {
      if (!this.isDisposed) {
        this._isCreated = false;
        this._fail(error);
      }
      return;
    }
    if (this.isDisposed) {
      content.dispose();
      return;
    }
    this._showMessage(null);
    this._content = content;
    (this.layout as PanelLayout).addWidget(content);
    // It was added after the last resize message.
    MessageLoop.sendMessage(content, Widget.ResizeMessage.UnknownSize);
    if (this._section) {
      this.showSection(this._section);
    }
  }

  private _fail(error: unknown): void {
    const { view, trans } = this._options;
    const { what, why, detail } = problemOf(error);
    const message = renderMessage(
      problem({
        what: trans.__('The view “%1” could not be opened', view.label(trans)),
        why: why ? `${what}: ${why}` : what,
        remedy: trans.__(
          'Try again; if the error persists, reload the page: the extension may have been updated meanwhile.'
        ),
        detail
      }),
      trans
    );
    const retry = message.appendChild(document.createElement('button'));
    retry.type = 'button';
    retry.className = 'jp-Compilescope-button';
    retry.textContent = trans.__('Try again');
    retry.addEventListener('click', () => {
      if (!this._isCreated) {
        void this._create();
      }
    });
    this._showMessage(message);
  }

  private _showMessage(message: HTMLElement | null): void {
    this._message?.remove();
    this._message = message;
    if (message) {
      this.node.appendChild(message);
    }
  }

  private _held: HeldModel;
  private _content: Widget | null = null;
  private _message: HTMLElement | null = null;
  private _isCreated = false;
  private _section = '';
}

function isSectioned(content: Widget | null): content is Widget & ISectioned {
  return content !== null && 'showSection' in content;
}

/**
 * The namespace for `ViewHost` statics.
 */
export namespace ViewHost {
  /**
   * The options of a place for a view.
   */
  export interface IOptions {
    view: IView;
    load: LoadView;
    context: IViewContext;
    trans: TranslationBundle;
  }
}
