import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { ISelection, ISourcePosition } from '../interfaces/selection';
import type { ISubjectModel } from '../interfaces/subject';
import { cellsWith, fileOf } from './cells';
import { isLinked } from './lines';
import { markLines, unmark } from './marks';

/**
 * Ties the cells of a notebook to the selection: the selected line is marked in
 * its cell, and a line that the cursor enters becomes the selected one.
 */
export class NotebookLink implements IDisposable {
  constructor(
    private _panel: NotebookPanel,
    private _model: ISubjectModel
  ) {
    _model.selectionChanged.connect(this._onSelection, this);
    _model.linkedChanged.connect(this._onLinked, this);
    _model.reportChanged.connect(this._mark, this);
    _panel.content.activeCellChanged.connect(this._onActiveCell, this);
    void this._watch(_panel.content.activeCell);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._unwatch();
    for (const editor of this._marked) {
      unmark(editor);
    }
    this._marked.clear();
    Signal.clearData(this);
  }

  private _onSelection(_: unknown, { source, origin }: ISelection): void {
    this._mark();
    if (source && origin !== this) {
      void this._reveal(source);
    }
  }

  /**
   * A node or a kernel that was selected is known to come from some lines.
   */
  private _onLinked(): void {
    this._mark();
    const { source, origin } = this._model.selection;
    const first = this._model.linked.sources.find(
      ({ file }) => this._cellsOf(file).length > 0
    );
    if (!source && first && origin !== this) {
      void this._reveal(first);
    }
  }

  private _mark(): void {
    const lines = new Map<string, number[]>();
    for (const { file, line } of this._model.linked.sources) {
      lines.set(file, [...(lines.get(file) ?? []), line]);
    }
    const editors = new Set<CodeEditor.IEditor>();
    for (const [file, numbers] of lines) {
      for (const cell of this._cellsOf(file)) {
        if (cell.editor) {
          editors.add(cell.editor);
          markLines(cell.editor, numbers);
        }
      }
    }
    for (const editor of this._marked) {
      if (!editors.has(editor)) {
        markLines(editor, []);
      }
    }
    this._marked = editors;
  }

  private async _reveal(source: ISourcePosition): Promise<void> {
    const [cell] = this._cellsOf(source.file);
    if (!cell) {
      return;
    }
    const { selection } = this._model;
    const notebook = this._panel.content;
    // Not `scrollToCell`, which takes the focus away from where the user is.
    await notebook.scrollToItem(notebook.widgets.indexOf(cell));
    await cell.ready;
    if (!this._isDisposed && this._model.selection === selection) {
      // A cell outside of the window has its editor only now.
      this._mark();
      cell.editor?.revealPosition({ line: source.line - 1, column: 0 });
    }
  }

  private _cellsOf(file: string): Cell[] {
    const text = this._model.report?.files[file];
    return text === undefined ? [] : cellsWith(this._panel.content, text);
  }

  private _onActiveCell(_: unknown, cell: Cell | null): void {
    void this._watch(cell);
  }

  private async _watch(cell: Cell | null): Promise<void> {
    this._unwatch();
    this._cell = cell;
    await cell?.ready;
    const editor = cell?.editor;
    if (cell !== this._cell || !editor || this._isDisposed) {
      return;
    }
    this._editor = editor;
    editor.model.selections.changed.connect(this._onCursor, this);
    this._onCursor();
  }

  private _unwatch(): void {
    this._cell = null;
    if (this._editor && !this._editor.isDisposed) {
      this._editor.model.selections.changed.disconnect(this._onCursor, this);
    }
    this._editor = null;
  }

  private _onCursor(): void {
    const editor = this._editor;
    const report = this._model.report;
    if (!editor?.hasFocus() || !this._cell || !report) {
      return;
    }
    const file = fileOf(this._cell, report.files);
    if (file !== null) {
      void this._select(file, editor.getCursorPosition().line + 1);
    }
  }

  private async _select(file: string, line: number): Promise<void> {
    const ticket = ++this._ticket;
    const linked = await isLinked(this._model, file, line);
    if (linked && ticket === this._ticket && !this._isDisposed) {
      this._model.select({ source: { file, line }, origin: this });
    }
  }

  private _cell: Cell | null = null;
  private _editor: CodeEditor.IEditor | null = null;
  private _isDisposed = false;
  private _marked = new Set<CodeEditor.IEditor>();
  private _ticket = 0;
}
