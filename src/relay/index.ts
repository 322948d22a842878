import type { IModel } from './model';
import { PanelView } from './panel';

/**
 * The widget, as anywidget takes it.
 */
export default {
  render({ model, el }: { model: IModel; el: HTMLElement }): () => void {
    const view = new PanelView(model, el);
    return () => view.dispose();
  }
};
