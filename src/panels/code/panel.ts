import {
  nullTranslator,
  type ITranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import { MessageLoop, type Message } from '@lumino/messaging';
import { Panel, SplitPanel, Widget } from '@lumino/widgets';
import type { Extension } from '@codemirror/state';
import { sameAddress, type Side } from '../../code/artifacts';
import { compare, type IComparison } from '../../code/comparison';
import { CostStatus } from './costStatus';
import { mainSource } from '../../code/describe';
import { embeddedKernels } from '../../code/editor/embedded';
import { Languages } from '../../code/editor/languages';
import type { IEditorSetup } from '../../code/editor/setup';
import { Follower } from './follower';
import type { IHighlight } from '../../code/regions/selectionMarks';
import type { SideState } from '../../code/loader';
import type { Mode } from '../../code/mode';
import { SIDES, Sides } from '../../code/sides';
import { SelectionStatus, statusOf } from './status';
import { SideNotes, type INotes } from '../../code/notes';
import { Texts } from './texts';
import { CompareToolbar } from './toolbar';
import type {
  ISelection,
  ISubjectModel,
  Region,
  SourceLine
} from '../../code/types';
import type { ILanguages } from '../../code/editor/languages';

const EMPTY_STATE: SideState = { kind: 'empty', problem: null };

/** Below this width, the panes are stacked. */
const STACK_BELOW_PX = 800;

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
        mode: mode => this._setMode(mode),
        swap: () => this._sides.swap(),
        change: step => this._texts.diff.step(step)
      },
      this._trans
    );
    this._texts = new Texts({
      setup: (side, how) => this._setup(side, how),
      notes: side => this._notes.of(side),
      subject: () => this._model.subject,
      pick: (side, change) => this._sides.pick(side, change),
      begins: mode => {
        this._costs.leave();
        this.toggleClass('jp-mod-diff', mode === 'diff');
      },
      rewrapped: () => this._describe(),
      trans: this._trans
    });
    const { diff, panes } = this._texts;
    this._split.addClass('jp-Compilescope-code-split');
    SIDES.forEach(side => this._split.addWidget(panes[side]));
    this._status = new SelectionStatus(
      source => this._selectSource(source),
      this._trans
    );
    this._costs = new CostStatus(() => this._notes.costs, this._trans);
    for (const widget of [
      this._toolbar,
      this._costs.legend,
      this._split,
      diff,
      this._status
    ]) {
      this.addWidget(widget);
    }
    diff.hide();
    // The split takes the space that its neighbors leave: a status line of two
    // lines, a toolbar that wraps, a diff. A panel does not notify its children of
    // that.
    this._observer.observe(this._split.node);
    for (const type of ['wheel', 'keydown', 'pointerdown']) {
      this.node.addEventListener(type, () => this._texts.moved(), {
        capture: true,
        passive: true
      });
    }
    this._follower = new Follower({
      model: this._model,
      origin: this,
      comparison: () => this._comparison,
      alignment: () => this._texts.alignment,
      view: side => this._texts.view(side),
      apply: marks => this._mark(marks),
      isDisposed: () => this.isDisposed
    });
    this._sides = new Sides(this._model, this._trans);
    this._sides.changed.connect(this._refresh, this);
    this._notes = new SideNotes({
      model: this._model,
      address: side => this._sides.choice(side)?.address ?? null,
      apply: (side, notes) => this._annotate(side, notes),
      isDisposed: () => this.isDisposed
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
    this._texts.dispose();
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
    this._texts.alignment?.schedule();
  }

  /** A side shows something else: display it as soon as its language is loaded. */
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

  /** Shows both sides in their current state. */
  private _show(): void {
    if (!this._states) {
      return;
    }
    const marks = this._follower.marks();
    this._texts.show({
      comparison: this._comparison,
      states: this._states,
      mode: this._mode(),
      marks,
      stacked: this._stacked,
      driver: this._lastUsed
    });
    this._describe();
    this._showStatus(marks);
  }

  /** The annotations of a side's lines changed. */
  private _annotate(side: Side, notes: INotes): void {
    this._texts.annotate(side, notes);
    this._costs.show(this._stacked);
    this._showStatus(this._follower.marks());
  }

  /** Shows the text that another view requests. */
  private _seek({ text, origin }: ISelection): void {
    if (!text || origin === this) {
      return;
    }
    const { variant, compilation, artifact } = text;
    const address = (side: Side) => this._sides.choice(side)?.address ?? null;
    const shown = { left: address('left'), right: address('right') };
    const side = this._texts.seek(text, shown);
    this._lastUsed = side;
    if (text.beside !== undefined) {
      this._sides.pick('left', {
        variant: text.besideVariant ?? variant,
        artifact: text.beside,
        compilation: text.besideCompilation ?? compilation
      });
    }
    this._sides.pick(side, { variant, artifact, compilation });
  }

  /** Updates headers and toolbar. */
  private _describe(): void {
    const variants = this._model.report?.variants ?? [];
    const mode = this._mode();
    const { diff, panes } = this._texts;
    for (const side of SIDES) {
      const choice = this._sides.choice(side);
      const text = this._comparison.texts[side];
      const state = this._states![side];
      panes[side].setHeader(
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
      changes: diff.changes,
      launches: this._comparison.launches
    };
  }

  /** How to compare: as the user chose for such a pair, or as suits it best. */
  private _mode(): Mode {
    const { modes } = this._comparison;
    const wish = this._wishes.get(modes[0]) ?? modes[0];
    const mode = modes.includes(wish) ? wish : modes[0];
    return mode === 'aligned' && this._stacked ? 'independent' : mode;
  }

  private _setMode(mode: Mode): void {
    this._wishes.set(this._comparison.modes[0], mode);
    this._show();
  }

  /** The selection changed. */
  private _selected(_: ISubjectModel, selection: ISelection): void {
    if (!this._states) {
      this._seek(selection);
      return;
    }
    if (selection.key !== null || selection.source !== null) {
      this._texts.moved();
    }
    const isOwn = selection.origin === this;
    if (!isOwn) {
      this._costs.leave();
    }
    const seeks = selection.text !== null && !isOwn;
    this._follower.follow(isOwn ? otherSide(this._lastUsed) : 'left', seeks);
    if (seeks) {
      this._seek(selection);
    }
  }

  /** The links of the selection have been resolved. */
  private _linked(): void {
    if (this._states) {
      this._follower.catchUp();
    }
  }

  private _mark(marks: Record<Side, IHighlight>): void {
    this._texts.mark(marks);
    this._showStatus(marks);
  }

  private _showStatus(marks: Record<Side, IHighlight>): void {
    const costs = this._costs.current(this._model.selection.key);
    this._status.state = statusOf(this._model, marks, costs, this._trans);
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

  private _setup(
    side: Side,
    how: Pick<IEditorSetup, 'wrap' | 'folds'>
  ): IEditorSetup {
    const choice = this._sides.choice(side);
    const label = choice?.artifact?.label || choice?.address.artifact || '';
    return {
      label: this._trans.__('%1 of variant %2', label, choice?.address.variant),
      language: this._language[side],
      embedded: choice?.artifact?.language === 'python' ? this._embedded : [],
      ...how,
      files: () => this._model.report?.files ?? {},
      events: {
        select: region => this._selectRegion(side, region),
        clear: () => this._model.select({ origin: this }),
        moved: line => {
          this._costs.moved(side, line);
          this._showStatus(this._follower.marks());
        },
        layoutChanged: () => this._texts.alignment?.schedule()
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
  private _costs: CostStatus;
  private _split = new SplitPanel({ orientation: 'horizontal', spacing: 4 });
  private _observer = new ResizeObserver(() =>
    MessageLoop.postMessage(this._split, Widget.ResizeMessage.UnknownSize)
  );
  private _texts: Texts;
  private _status: SelectionStatus;
  private _comparison: IComparison = compare(EMPTY_STATE, EMPTY_STATE);
  private _follower: Follower;
  private _states: Record<Side, SideState> | null = null;
  private _language: Record<Side, Extension> = { left: [], right: [] };
  private _embedded: Extension = [];
  private _wishes = new Map<Mode, Mode>();
  private _lastUsed: Side = 'left';
  private _stacked = false;
  private _ticket = 0;
}

/** Whether two states differ only in what is still loading, if at all. */
function showsTheSame(a: SideState, b: SideState | undefined): boolean {
  return (
    a === b ||
    (a.kind === 'data' &&
      b?.kind === 'data' &&
      a.result === b.result &&
      sameAddress(a.choice.address, b.choice.address))
  );
}

function otherSide(side: Side): Side {
  return side === 'left' ? 'right' : 'left';
}

/**
 * A namespace for `CodePanel` statics.
 */
export namespace CodePanel {
  /**
   * The options of a Code view.
   */
  export interface IOptions {
    model: ISubjectModel;
    languages: ILanguages;
    translator?: ITranslator;
  }
}
