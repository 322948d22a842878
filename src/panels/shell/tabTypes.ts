import type { TranslationBundle } from '@jupyterlab/translation';
import type { Count } from '../../protocol/types';
import type { IView, ViewId } from '../views';

/**
 * What tabs need.
 */
export interface ITabOptions {
  views: readonly IView[];
  tabId: (view: ViewId) => string;
  panelId: (view: ViewId) => string;
  open: (view: ViewId) => void;

  /**
   * Opens a view in a panel of its own; null where there can be none.
   */
  beside: ((view: ViewId) => void) | null;
  trans: TranslationBundle;
}

/**
 * The number next to a tab's label, and what it counts, for the tooltip and screen readers.
 */
export type IBadge = Pick<Count, 'number' | 'text'>;

/**
 * What changes.
 */
export interface ITabState {
  current: ViewId;

  /**
   * The views that have a tab; the menu at the end has the rest.
   */
  tabs: readonly IView[];
  counts: Partial<Record<ViewId, IBadge>>;

  /**
   * The views that have nothing to show, and why.
   */
  nothing: Partial<Record<ViewId, string>>;
}
