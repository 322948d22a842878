import type { Extension } from '@codemirror/state';
import { gutter, GutterMarker, type EditorView } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import { title } from '../describe';
import type { IBar } from '../regions/linkBars';
import type { Region } from '../types';
import { linksField, setLinks } from './links';

/**
 * The gutter of small bars: which lines have a partner on the other side.
 *
 * Color and shape say which; a hollow bar stands for a launch without a partner. Made for the
 * visible lines only.
 *
 * @param select Called with the region whose bar was clicked.
 */
export function partnerBars(
  trans: TranslationBundle,
  select: (region: Region) => void
): Extension {
  return gutter({
    class: 'jp-Compilescope-code-bars',
    lineMarker: (view, line) => {
      const number = view.state.doc.lineAt(line.from).number;
      const { index, bars } = view.state.field(linksField);
      const region = index.at(number);
      if (!region?.key) {
        return null;
      }
      const hasPartner = bars.has(region.key);
      if (!hasPartner && region.kind !== 'launch') {
        return null;
      }
      return new BarMarker(
        hasPartner ? shapeClass(bars.get(region.key)) : 'lone',
        hasPartner
          ? trans.__('%1: also on the other side', title(region, trans))
          : trans.__('%1: not on the other side', title(region, trans))
      );
    },
    lineMarkerChange: update =>
      update.transactions.some(transaction =>
        transaction.effects.some(effect => effect.is(setLinks))
      ),
    initialSpacer: () => new BarMarker('plain', ''),
    domEventHandlers: {
      click: (view: EditorView, line) => {
        const number = view.state.doc.lineAt(line.from).number;
        const region = view.state.field(linksField).index.at(number);
        if (region?.key) {
          select(region);
        }
        return !!region;
      }
    }
  });
}

function shapeClass(bar: IBar | null | undefined): string {
  return bar
    ? `color${bar.color} jp-Compilescope-code-shape${bar.shape}`
    : 'plain';
}

class BarMarker extends GutterMarker {
  constructor(
    readonly shape: string,
    readonly text: string
  ) {
    super();
  }

  override eq(other: BarMarker): boolean {
    return this.text === other.text && this.shape === other.shape;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('div');
    node.className = `jp-Compilescope-code-bar jp-Compilescope-code-${this.shape}`;
    node.title = this.text;
    return node;
  }
}
