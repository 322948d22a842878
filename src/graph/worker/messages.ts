import type { ILayout, ILayoutGraph } from '../layout/types';

/**
 * To the worker.
 */
export type LayoutRequest =
  | { readonly kind: 'graph'; readonly graph: ILayoutGraph }
  | {
      readonly kind: 'layout';
      readonly id: number;
      readonly open: Uint8Array;
    }
  | { readonly kind: 'cancel'; readonly id: number };

/**
 * From the worker.
 */
export type LayoutReply =
  | {
      readonly kind: 'done';
      readonly id: number;
      readonly layout: ILayout;
      readonly milliseconds: number;
    }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };
