import type { EditorView } from '@codemirror/view';
import {
  nullTranslator,
  type ITranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import { MessageLoop, type Message } from '@lumino/messaging';
import { Panel, SplitPanel, Widget } from '@lumino/widgets';
import type { Extension } from '@codemirror/state';
import type { IAnchor } from './align';
import { sameAddress, type Side } from './artifacts';
import { compare, type IComparison } from './comparison';
import { CostTeller } from './costTeller';
import { mainSource } from './describe';
import { DiffBody } from './diff';
import { Alignment } from './editor/alignment';
import { embeddedKernels } from './editor/embedded';
import { Languages } from './editor/languages';
import { rememberPlace, restorePlace, type IPlace } from './editor/place';
import type { IEditorSetup } from './editor/setup';
import { Goal } from './goal';
import { Follower } from './follower';
import type { IHighlight } from './highlight';
import type { SideState } from './loader';
import type { Mode } from './mode';
import { Pane } from './pane';
import { Places } from './places';
import { SIDES, Sides } from './sides';
import { SelectionStatus, statusOf } from './status';
import { SideNotes, type INotes } from './notes';
import { CompareToolbar } from './toolbar';
import type { ISelection, ISubjectModel, Region, SourceLine } from './types';
import type { ILanguages } from '../views';

const NOTHING: SideState = { kind: 'empty', problem: null };

/** Below this width the panes stand one below the other. */
const STACK_BELOW_PX = 520;

/**
 * The Code view: two artifacts of a report side by side.
 */
export class CodePanel extends Panel {
  constructor(options: CodePanel.IOptions) {
    super();
    this.addClass('jp-Compilescope-code');
    this._model = options.model;
    this._trans = (options.translator ?? nullTranslator).load(
      'jupyterlab_compilescope'
    );
    this._languages = new Languages(options.languages);
    this._toolbar = new CompareToolbar(
      {
        mode: mode => this._wish(mode),
        swap: () => this._sides.swap(),
        change: step => this._diff.step(step)
      },
      this._trans
    );
    this._panes = { left: this._pane('left'), right: this._pane('right') };
    this._split.addClass('jp-Compilescope-code-split');
    SIDES.forEach(side => this._split.addWidget(this._panes[side]));
    this._status = new SelectionStatus(
      source => this._selectSource(source),
      this._trans
    );
    this._costs = new CostTeller(() => this._notes.costs, this._trans);
    for (const widget of [
      this._toolbar,
      this._costs.legend,
      this._split,
      this._diff,
      this._status
    ]) {
      this.addWidget(widget);
    }
    this._diff.hide();
    // The split takes what its neighbours leave: a status line of two lines, a toolbar that wraps,
    // a diff. A panel does not tell its children of that.
    this._observer.observe(this._split.node);
    for (const type of ['wheel', 'keydown', 'pointerdown']) {
      this.node.addEventListener(type, () => this._places.moved(), {
        capture: true,
        passive: true
      });
    }
    this._follower = new Follower({
      model: this._model,
      origin: this,
      comparison: () => this._comparison,
      alignment: () => this._alignment,
      view: side => this._shownView(side),
      apply: marks => this._mark(marks),
      isDisposed: () => this.isDisposed
    });
    this._sides = new Sides(this._model, this._trans);
    this._sides.changed.connect(this._refresh, this);
    this._notes = new SideNotes({
      model: this._model,
      address: side => this._sides.choice(side)?.address ?? null,
      apply: (side, notes) => this._annotate(side, notes),
      isDisposed: () => this.isDisposed,
      trans: this._trans
    });
    this._model.selectionChanged.connect(this._selected, this);
    this._model.linkedChanged.connect(this._linked, this);
    this._refresh();
    this._seek(this._model.selection);
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._observer.disconnect();
    this._alignment?.dispose();
    this._sides.dispose();
    super.dispose();
  }

  protected override onResize(message: Widget.ResizeMessage): void {
    super.onResize(message);
    const width = message.width < 0 ? this.node.offsetWidth : message.width;
    const stacked = width > 0 && width < STACK_BELOW_PX;
    if (stacked !== this._stacked) {
      this._stacked = stacked;
      this.toggleClass('jp-mod-stacked', stacked);
      this._split.orientation = stacked ? 'vertical' : 'horizontal';
      this._costs.show(stacked);
      this._show();
    }
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._alignment?.schedule();
  }

  /** A side has something else to show: once its language has come, show it. */
  private _refresh(): void {
    this._notes.refresh();
    void this._prepare();
  }

  private async _prepare(): Promise<void> {
    const ticket = ++this._ticket;
    const states = {
      left: this._sides.loader('left').state,
      right: this._sides.loader('right').state
    };
    const [left, right, cpp, python] = await Promise.all([
      this._languageOf(states.left),
      this._languageOf(states.right),
      this._languages.get('cpp'),
      this._languages.get('python')
    ]);
    if (ticket !== this._ticket || this.isDisposed) {
      return;
    }
    if (
      !showsTheSame(states.left, this._states?.left) ||
      !showsTheSame(states.right, this._states?.right)
    ) {
      this._comparison = compare(states.left, states.right);
    }
    this._states = states;
    this._language = { left, right };
    this._embedded = embeddedKernels({ cpp, python });
    this._show();
  }

  private async _languageOf(state: SideState): Promise<Extension> {
    return state.kind === 'data'
      ? this._languages.get(state.result.artifact.language)
      : [];
  }

  /** Show both sides as they are now. */
  private _show(): void {
    if (!this._states) {
      return;
    }
    const comparison = this._comparison;
    const mode = this._mode();
    const marks = this._follower.marks();
    // Signals come in bursts; laying out anew would take spacers out and put them in again.
    if (this._shown?.comparison !== comparison || this._shown.mode !== mode) {
      this._layOut(this._states, mode, marks);
    } else {
      SIDES.forEach(side => this._reach(side));
    }
    if (mode === 'diff') {
      SIDES.forEach(side => this._diff.wrap(side, this._wraps(side)));
    }
    this._describe();
    this._showStatus(marks);
  }

  private _layOut(
    states: Record<Side, SideState>,
    mode: Mode,
    marks: Record<Side, IHighlight>
  ): void {
    const { anchors, bars, texts } = this._comparison;
    const isDiff = mode === 'diff';
    const places = this._places.remember();
    this._shown = { comparison: this._comparison, mode };
    this._costs.leave();
    this.toggleClass('jp-mod-diff', isDiff);
    this._diff.setHidden(!isDiff);
    this._alignment?.dispose();
    this._alignment = null;
    if (isDiff) {
      this._diff.compare(texts.left!, texts.right!, bars, {
        left: this._setup('left'),
        right: this._setup('right')
      });
      this._diff.mark(marks);
      SIDES.forEach(side => this._diff.annotate(side, this._notes.of(side)));
    } else {
      this._diff.clear();
    }
    for (const side of SIDES) {
      const { body } = this._panes[side];
      const text = texts[side];
      const state = states[side];
      if (text && !isDiff) {
        body.showText(
          text.result,
          text.index,
          bars,
          marks[side],
          this._setup(side),
          places[side]
        );
      } else if (state.kind !== 'data') {
        body.showMessage(state);
      }
    }
    this._scroll(mode, places, anchors);
  }

  /** Something else is to be said beside a side's lines. */
  private _annotate(side: Side, notes: INotes): void {
    this._panes[side].body.annotate(notes);
    this._diff.annotate(side, notes);
    this._costs.show(this._stacked);
    this._showStatus(this._follower.marks());
  }

  /** Scroll to where the sides were before; to where kernels are called at first. */
  private _scroll(
    mode: Mode,
    places: Record<Side, IPlace | null>,
    anchors: readonly IAnchor[]
  ): void {
    const restore = (side: Side) => {
      const view = this._shownView(side);
      if (view && !this._reach(side)) {
        restorePlace(view, places[side]);
      }
    };
    const left = this._panes.left.body.view;
    const right = this._panes.right.body.view;
    const driver = this._lastUsed;
    if (mode === 'aligned' && left && right) {
      this._alignment = new Alignment(left, right, anchors, driver, () =>
        restore(driver)
      );
    } else if (mode === 'independent') {
      SIDES.forEach(restore);
    } else if (places[driver] || this._goal.isFor(driver)) {
      restore(driver);
    }
  }

  /** Turn to the text that another view asks for. */
  private _seek({ text, origin }: ISelection): void {
    if (!text || origin === this) {
      return;
    }
    const { variant, compilation, artifact } = text;
    const address = (side: Side) => this._sides.choice(side)?.address ?? null;
    const shown = { left: address('left'), right: address('right') };
    const side = this._goal.set(text, shown);
    this._lastUsed = side;
    this._places.moved();
    if (text.beside !== undefined) {
      this._sides.pick('left', {
        variant: text.besideVariant ?? variant,
        artifact: text.beside
      });
    }
    this._sides.pick(side, {
      variant,
      artifact,
      ...(compilation !== this._model.compilation && { compilation })
    });
  }

  private _reach(side: Side): boolean {
    const state = this._states?.[side];
    return !!state && this._goal.reach(side, state, this._shownView(side));
  }

  private _place(side: Side): IPlace | null {
    const view = this._shownView(side);
    return view && rememberPlace(view);
  }

  /** Bring headers and toolbar up to date. */
  private _describe(): void {
    const variants = this._model.report?.variants ?? [];
    const mode = this._mode();
    for (const side of SIDES) {
      const choice = this._sides.choice(side);
      const text = this._comparison.texts[side];
      const state = this._states![side];
      this._panes[side].setHeader(
        choice && {
          address: choice.address,
          variants,
          compilation: choice.compilation,
          lines: text?.index.lineCount ?? null,
          pending: state.kind === 'data' && state.pending,
          foldable: mode !== 'diff' && !!text?.index.folds.length,
          enabled: !!text
        }
      );
    }
    this._toolbar.state = {
      mode,
      modes: this._comparison.modes,
      stacked: this._stacked,
      identical: this._comparison.identical,
      changes: this._diff.changes,
      launches: this._comparison.launches
    };
  }

  /** The way to compare: what the user wished for such a pair, or what suits it best. */
  private _mode(): Mode {
    const { modes } = this._comparison;
    const wish = this._wishes.get(modes[0]) ?? modes[0];
    const mode = modes.includes(wish) ? wish : modes[0];
    return mode === 'aligned' && this._stacked ? 'independent' : mode;
  }

  private _wish(mode: Mode): void {
    this._wishes.set(this._comparison.modes[0], mode);
    this._show();
  }

  /** The selection is another one. */
  private _selected(_: ISubjectModel, selection: ISelection): void {
    if (!this._states) {
      this._seek(selection);
      return;
    }
    if (selection.key !== null || selection.source !== null) {
      this._places.moved();
    }
    const own = selection.origin === this;
    if (!own) {
      this._costs.leave();
    }
    const seeks = selection.text !== null && !own;
    this._follower.follow(own ? other(this._lastUsed) : 'left', seeks);
    if (seeks) {
      this._seek(selection);
    }
  }

  /** What the selection leads to is known. */
  private _linked(): void {
    if (this._states) {
      this._follower.catchUp();
    }
  }

  private _mark(marks: Record<Side, IHighlight>): void {
    if (this._mode() === 'diff') {
      SIDES.forEach(side => this._diff.wrap(side, this._wraps(side)));
      this._diff.mark(marks);
    } else {
      SIDES.forEach(side => this._panes[side].body.mark(marks[side]));
    }
    this._showStatus(marks);
  }

  private _showStatus(marks: Record<Side, IHighlight>): void {
    const told = this._costs.told(this._model.selection.key);
    this._status.state = statusOf(this._model, marks, told, this._trans);
  }

  private _selectRegion(side: Side, region: Region): void {
    this._lastUsed = side;
    const source = mainSource(region, this._model.report?.files ?? {});
    this._model.select({
      key: region.key,
      kernel: region.kind === 'line' ? region.kernel : null,
      source: source && { file: source.file, line: source.line },
      origin: this
    });
  }

  private _selectSource({ file, line }: SourceLine): void {
    this._model.select({ source: { file, line } });
  }

  private _pane(side: Side): Pane {
    return new Pane(
      side,
      change => this._sides.pick(side, change),
      () => this._shownView(side),
      () => {
        this._panes[side].body.wrap(this._wraps(side));
        this._diff.wrap(side, this._wraps(side));
        this._describe();
      },
      this._trans
    );
  }

  /** Whether a side's lines wrap: as the user wants it; always in a diff too narrow for lines. */
  private _wraps(side: Side): boolean {
    return this._panes[side].wrap || (this._stacked && this._mode() === 'diff');
  }

  private _shownView(side: Side): EditorView | null {
    return this._shown?.mode === 'diff'
      ? this._diff.view(side)
      : this._panes[side].body.view;
  }

  private _setup(side: Side): IEditorSetup {
    const choice = this._sides.choice(side);
    const label = choice?.artifact?.label || choice?.address.artifact || '';
    return {
      label: this._trans.__('%1 of variant %2', label, choice?.address.variant),
      language: this._language[side],
      embedded: choice?.artifact?.language === 'python' ? this._embedded : [],
      wrap: this._wraps(side),
      folds: this._mode() !== 'diff',
      files: () => this._model.report?.files ?? {},
      events: {
        select: region => this._selectRegion(side, region),
        clear: () => this._model.select({ origin: this }),
        moved: line => {
          this._costs.moved(side, line);
          this._showStatus(this._follower.marks());
        },
        layoutChanged: () => this._alignment?.schedule()
      },
      trans: this._trans
    };
  }

  private _model: ISubjectModel;
  private _trans: TranslationBundle;
  private _languages: Languages;
  private _sides: Sides;
  private _notes: SideNotes;
  private _toolbar: CompareToolbar;
  private _costs: CostTeller;
  private _split = new SplitPanel({ orientation: 'horizontal', spacing: 4 });
  private _observer = new ResizeObserver(() =>
    MessageLoop.postMessage(this._split, Widget.ResizeMessage.UnknownSize)
  );
  private _panes: Record<Side, Pane>;
  private _diff = new DiffBody();
  private _status: SelectionStatus;
  private _comparison: IComparison = compare(NOTHING, NOTHING);
  private _places = new Places(
    side => this._place(side),
    () => this._model.subject
  );
  private _follower: Follower;
  /** What is laid out at the moment. */
  private _shown: { comparison: IComparison; mode: Mode } | null = null;
  private _states: Record<Side, SideState> | null = null;
  private _language: Record<Side, Extension> = { left: [], right: [] };
  private _embedded: Extension = [];
  private _alignment: Alignment | null = null;
  private _goal = new Goal();
  private _wishes = new Map<Mode, Mode>();
  private _lastUsed: Side = 'left';
  private _stacked = false;
  private _ticket = 0;
}

/** Whether two states differ at most in what is on its way. */
function showsTheSame(a: SideState, b: SideState | undefined): boolean {
  return (
    a === b ||
    (a.kind === 'data' &&
      b?.kind === 'data' &&
      a.result === b.result &&
      sameAddress(a.choice.address, b.choice.address))
  );
}

function other(side: Side): Side {
  return side === 'left' ? 'right' : 'left';
}

/**
 * A namespace for `CodePanel` statics.
 */
export namespace CodePanel {
  /**
   * What a Code view needs.
   */
  export interface IOptions {
    model: ISubjectModel;
    languages: ILanguages;
    translator?: ITranslator;
  }
}
