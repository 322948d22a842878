import { defaultKeymap } from '@codemirror/commands';
import {
  highlightSelectionMatches,
  search,
  searchKeymap
} from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers
} from '@codemirror/view';
import { jupyterTheme } from '@jupyterlab/codemirror';
import type { TranslationBundle } from '@jupyterlab/translation';
import { partnerBars } from './bars';
import { stepCosts } from './costs';
import { decisionMarks } from './decisions';
import { kernelFolding } from './folding';
import { regionHover } from './hover';
import { regionKeys, type IEditorEvents } from './keys';
import { links } from './links';
import { searchPhrases } from './phrases';
import { spacers } from './spacers';
import { launchTimes } from './times';

/** Whether lines wrap; reconfigured in place. */
export const wrapping = new Compartment();

/**
 * The options of an editor for generated code.
 */
export interface IEditorSetup {
  /** The editor's name for screen readers. */
  label: string;
  language: Extension;
  /** Syntax of code embedded in the text: kernels in a Python wrapper. */
  embedded: Extension;
  wrap: boolean;
  /** Whether kernels fold; a diff collapses what is equal instead. */
  folds: boolean;
  files: () => Readonly<Record<string, string>>;
  events: IEditorEvents;
  trans: TranslationBundle;
}

/**
 * The extensions of a read-only editor. It can take the focus and has a cursor, so that all of it
 * can be reached by keyboard and by screen readers.
 */
export function editorSetup(setup: IEditorSetup): Extension {
  const { trans } = setup;
  return [
    EditorState.readOnly.of(true),
    EditorState.phrases.of(searchPhrases(trans)),
    EditorView.contentAttributes.of({
      'aria-label': setup.label,
      'aria-readonly': 'true',
      spellcheck: 'false'
    }),
    wrapping.of(setup.wrap ? EditorView.lineWrapping : []),
    links,
    partnerBars(trans, setup.events.select),
    launchTimes(trans),
    stepCosts(trans, setup.events.moved),
    decisionMarks(trans),
    lineNumbers(),
    setup.folds ? kernelFolding(trans) : [],
    spacers,
    regionKeys(setup.events),
    regionHover(trans, setup.files),
    highlightSpecialChars(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    drawSelection(),
    search(),
    keymap.of([...searchKeymap, ...defaultKeymap]),
    setup.language,
    setup.embedded,
    jupyterTheme
  ];
}
