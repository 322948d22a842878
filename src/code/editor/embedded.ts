import { Language, type LanguageSupport } from '@codemirror/language';
import { Prec, RangeSetBuilder, type Extension } from '@codemirror/state';
import {
  Decoration,
  ViewPlugin,
  type DecorationSet,
  type EditorView,
  type ViewUpdate
} from '@codemirror/view';
import { jupyterHighlightStyle } from '@jupyterlab/codemirror';
import { highlightTree } from '@lezer/highlight';
import { embeddedSource } from '../embedded';
import type { IKernelFold } from '../regions/folds';
import { linksField, setLinks } from './links';

/** Longer kernels stay a plain string: parsing them whole would be felt. */
const MAX_CHARACTERS = 300_000;

interface IToken {
  from: number;
  to: number;
  classes: string;
}

/** A kernel's source inside a string of the wrapper, with its own syntax. */
interface IEmbedded {
  from: number;
  to: number;
  tokens: IToken[];
}

const plain = Decoration.mark({ class: 'jp-Compilescope-code-embedded' });

/**
 * The syntax of the kernels that the Python wrapper holds as strings. Only kernels in sight are
 * parsed, each once.
 *
 * @param languages The syntax of C++ and of Python (for Triton).
 */
export function embeddedKernels(
  languages: Record<'cpp' | 'python', Extension>
): Extension {
  const plugin = (decorate: (source: IEmbedded, add: Add) => void) =>
    ViewPlugin.define(view => new Embedded(view, languages, decorate), {
      decorations: value => value.decorations
    });
  // Of nested marks the higher precedence is the inner one: tokens in a plain ground in a string.
  return [
    Prec.high(plugin((source, add) => add(source.from, source.to, plain))),
    Prec.highest(
      plugin((source, add) =>
        source.tokens.forEach(token =>
          add(token.from, token.to, Decoration.mark({ class: token.classes }))
        )
      )
    )
  ];
}

type Add = (from: number, to: number, mark: Decoration) => void;

class Embedded {
  constructor(
    view: EditorView,
    private _languages: Record<'cpp' | 'python', Extension>,
    private _decorate: (source: IEmbedded, add: Add) => void
  ) {
    this.decorations = this._build(view);
  }

  decorations: DecorationSet;

  update(update: ViewUpdate): void {
    const relinked = update.transactions.some(transaction =>
      transaction.effects.some(effect => effect.is(setLinks))
    );
    if (update.viewportChanged || relinked) {
      this.decorations = this._build(update.view);
    }
  }

  private _build(view: EditorView): DecorationSet {
    const { doc } = view.state;
    const builder = new RangeSetBuilder<Decoration>();
    for (const fold of view.state.field(linksField).index.folds) {
      const from = doc.line(fold.start).from;
      const to = doc.line(fold.end).to;
      const seen = view.visibleRanges.some(
        range => range.from < to && from < range.to
      );
      const source = seen ? this._parse(view, fold, from, to) : null;
      if (source) {
        this._decorate(source, (a, b, mark) => builder.add(a, b, mark));
      }
    }
    return builder.finish();
  }

  private _parse(
    view: EditorView,
    fold: IKernelFold,
    from: number,
    to: number
  ): IEmbedded | null {
    const known = this._parsed.get(fold.start);
    if (known !== undefined) {
      return known;
    }
    const text = view.state.doc.sliceString(from, to);
    const embedded = embeddedSource(text);
    const language = embedded && languageOf(this._languages[embedded.language]);
    let parsed: IEmbedded | null = null;
    if (embedded && language && embedded.to - embedded.from <= MAX_CHARACTERS) {
      const tokens: IToken[] = [];
      highlightTree(
        language.parser.parse(text.slice(embedded.from, embedded.to)),
        jupyterHighlightStyle,
        (a, b, classes) =>
          tokens.push({
            from: from + embedded.from + a,
            to: from + embedded.from + b,
            classes
          })
      );
      parsed = { from: from + embedded.from, to: from + embedded.to, tokens };
    }
    this._parsed.set(fold.start, parsed);
    return parsed;
  }

  private _parsed = new Map<number, IEmbedded | null>();
}

function languageOf(extension: Extension): Language | null {
  const { language } = extension as Partial<LanguageSupport>;
  return language ?? null;
}
