import type { TranslationBundle } from '@jupyterlab/translation';
import type { Count } from '../../protocol/types';
import type { IView, ViewId } from '../views';

/**
 * The props of the tabs that do not change.
 */
export interface ITabOptions {
  views: readonly IView[];
  tabId: (view: ViewId) => string;
  panelId: (view: ViewId) => string;
  open: (view: ViewId) => void;

  /**
   * Opens a view in a separate panel; null where that is impossible.
   */
  beside: ((view: ViewId) => void) | null;
  trans: TranslationBundle;
}

/**
 * The number next to a tab's label, and its meaning, for the tooltip and screen
 * readers.
 */
export type IBadge = Pick<Count, 'number' | 'text'>;

/**
 * The props that change.
 */
export interface ITabState {
  current: ViewId;

  /**
   * The views that have a tab; the menu at the end has the others.
   */
  tabs: readonly IView[];
  counts: Partial<Record<ViewId, IBadge>>;

  /**
   * The views that have nothing to show, and why.
   */
  nothing: Partial<Record<ViewId, string>>;
}
