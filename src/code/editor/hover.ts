import type { Extension } from '@codemirror/state';
import { EditorView, hoverTooltip } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import { kindLabel, shortList } from '../describe';
import { formatPlace } from '../../words/format';
import type { Region } from '../types';
import { linksField } from './links';

/** The maximum number of nodes or lines in a tooltip. */
const LIMIT = 8;

/**
 * The tooltip of a line.
 *
 * @param files The notebook cells that source lines may refer to, by file name.
 */
export function regionHover(
  trans: TranslationBundle,
  files: () => Readonly<Record<string, string>>
): Extension {
  let pointerY = 0;
  const tooltip = hoverTooltip(
    (view, position) => {
      const line = view.state.doc.lineAt(position);
      const text = view.coordsAtPos(position);
      // The nearest position to a spacer is a line's, but the pointer is not on that line.
      if (!text || pointerY < text.top || pointerY > text.bottom) {
        return null;
      }
      const region = view.state.field(linksField).index.at(line.number);
      if (!region) {
        return null;
      }
      return {
        pos: position,
        create: () => ({ dom: render(region, files(), trans) })
      };
    },
    { hoverTime: 500 }
  );
  return [
    tooltip,
    EditorView.domEventObservers({
      mousemove: event => {
        pointerY = event.clientY;
      }
    })
  ];
}

function render(
  region: Region,
  files: Readonly<Record<string, string>>,
  trans: TranslationBundle
): HTMLElement {
  const node = document.createElement('div');
  node.className = 'jp-Compilescope-code-hover';
  const head = node.appendChild(document.createElement('div'));
  head.className = 'jp-Compilescope-code-hoverKind';
  head.textContent = kindLabel(region.kind, trans);
  const list = node.appendChild(document.createElement('dl'));
  const row = (term: string, text: string) => {
    if (text) {
      list.appendChild(document.createElement('dt')).textContent = term;
      list.appendChild(document.createElement('dd')).textContent = text;
    }
  };
  const sources = region.sources.map(source =>
    [formatPlace(source, files, trans), source.code].filter(Boolean).join('  ')
  );
  row(trans.__('Kernel'), region.kernel ?? '');
  row(trans.__('What'), region.label === region.kernel ? '' : region.label);
  row(trans.__('Nodes'), shortList(region.nodes, LIMIT, trans));
  row(trans.__('Source'), [...new Set(sources)].slice(0, LIMIT).join('\n'));
  return node;
}
