import {
  codeFolding,
  foldEffect,
  foldGutter,
  foldKeymap,
  foldService,
  foldedRanges,
  unfoldEffect
} from '@codemirror/language';
import type { EditorState, Extension, StateEffect } from '@codemirror/state';
import { keymap, type EditorView } from '@codemirror/view';
import type { TranslationBundle } from '@jupyterlab/translation';
import { caretDownEmptyIcon, caretRightIcon } from '@jupyterlab/ui-components';
import type { IKernelFold } from '../regions/folds';
import { linksField } from './links';
import { formatCount } from '../../words/format';

interface IRange {
  from: number;
  to: number;
}

/**
 * Folding by kernel: a definition folds to its name and its number of lines.
 */
export function kernelFolding(trans: TranslationBundle): Extension {
  return [
    codeFolding({
      preparePlaceholder: (state, range) => foldAt(state, range.from),
      placeholderDOM: (view, onclick, fold: IKernelFold | null) => {
        const node = document.createElement('button');
        node.type = 'button';
        node.className = 'jp-Compilescope-code-folded';
        node.textContent = fold
          ? trans._n(
              '%2 · %3 line',
              '%2 · %3 lines',
              fold.lines,
              fold.name,
              formatCount(fold.lines)
            )
          : '…';
        node.title = trans.__('Unfold');
        node.setAttribute('aria-expanded', 'false');
        node.onclick = onclick;
        return node;
      }
    }),
    foldService.of((state, from) => {
      const fold = foldAt(state, from);
      return fold ? rangeOf(state, fold) : null;
    }),
    foldGutter({
      markerDOM: open => {
        const node = (open ? caretDownEmptyIcon : caretRightIcon).element({
          tag: 'span',
          className: 'jp-Compilescope-code-foldMarker'
        });
        node.title = open ? trans.__('Fold') : trans.__('Unfold');
        return node;
      }
    }),
    keymap.of(foldKeymap)
  ];
}

/** Kernel → whether it is folded. */
export type FoldMemory = ReadonlyMap<string, boolean>;

/**
 * The effects that fold a text which takes another's place: kernels of a known name as they were,
 * new ones when they are long.
 */
export function initialFolds(
  state: EditorState,
  memory: FoldMemory
): StateEffect<unknown>[] {
  return folds(state)
    .filter(fold => memory.get(fold.name) ?? fold.initially)
    .map(fold => foldEffect.of(rangeOf(state, fold)));
}

/** Which kernels of a text are folded. */
export function rememberFolds(state: EditorState): Map<string, boolean> {
  const starts = new Set(foldedStarts(state));
  return new Map(
    folds(state).map(fold => [
      fold.name,
      starts.has(state.doc.line(fold.start).from)
    ])
  );
}

/** Fold all kernels, or unfold all, in one step. */
export function foldKernels(view: EditorView, fold: boolean): void {
  const folded = new Set(foldedStarts(view.state));
  const effects = folds(view.state)
    .map(item => rangeOf(view.state, item))
    .filter(range => folded.has(range.from) !== fold)
    .map(range => (fold ? foldEffect : unfoldEffect).of(range));
  if (effects.length) {
    view.dispatch({ effects });
  }
}

function folds(state: EditorState): readonly IKernelFold[] {
  return state.field(linksField).index.folds;
}

function foldAt(state: EditorState, position: number): IKernelFold | null {
  const line = state.doc.lineAt(position).number;
  return state.field(linksField).index.foldAt(line);
}

function rangeOf(state: EditorState, fold: IKernelFold): IRange {
  return {
    from: state.doc.line(fold.start).from,
    to: state.doc.line(Math.min(fold.end, state.doc.lines)).to
  };
}

function foldedStarts(state: EditorState): number[] {
  const starts: number[] = [];
  foldedRanges(state).between(0, state.doc.length, from => {
    starts.push(from);
  });
  return starts;
}
