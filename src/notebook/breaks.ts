import type { Cell } from '@jupyterlab/cells';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';
import type {
  DistinctBreak,
  SourceLine,
  VariantReport
} from '../protocol/types';
import type { ISubjectModel } from '../interfaces/subject';
import { cellsWith } from './cells';
import type { IBreakMark } from './marks';
import { markBreaks, unmarkBreaks } from './marks';

/**
 * A watch changes its report a few times a second.
 */
const DELAY_MS = 250;

/**
 * Marks the lines of a notebook where the graphs of the shown variant broke.
 */
export class BreakMarks implements IDisposable {
  constructor(
    private _panel: NotebookPanel,
    private _model: ISubjectModel,
    private _trans: TranslationBundle
  ) {
    _model.reportChanged.connect(this._later, this);
    _model.variantChanged.connect(this._later, this);
    this._later();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._ticket++;
    this._debouncer.dispose();
    for (const editor of this._marked) {
      unmarkBreaks(editor);
    }
    this._marked.clear();
    Signal.clearData(this);
  }

  private _later(): void {
    // A later call replaces this one, which needs no result.
    this._debouncer.invoke().catch(() => undefined);
  }

  private async _update(): Promise<void> {
    const ticket = ++this._ticket;
    const variant = await this._read();
    if (ticket !== this._ticket || !variant) {
      return;
    }
    const files = this._model.report?.files ?? {};
    const byFile = marksOf(variant.breaks, files, this._trans);
    const marks = new Map<Cell, IBreakMark[]>();
    for (const [file, breakMarks] of byFile) {
      for (const cell of cellsWith(this._panel.content, files[file])) {
        // A cell that ran twice has two files.
        marks.set(cell, [...(marks.get(cell) ?? []), ...breakMarks]);
      }
    }
    const editors = new Set([...marks.keys()].map(cell => cell.editor));
    for (const editor of this._marked) {
      if (!editors.has(editor)) {
        markBreaks(editor, []);
        this._marked.delete(editor);
      }
    }
    for (const [cell, cellMarks] of marks) {
      void this._mark(cell, cellMarks, ticket);
    }
  }

  /**
   * The variant with its breaks; without any, nothing is asked for. Null where
   * it cannot be had: the marks stay as they are, and the view says why.
   */
  private async _read(): Promise<Pick<
    VariantReport,
    'breaks' | 'compilations'
  > | null> {
    const { report, variant } = this._model;
    const summary = report?.variants.find(({ name }) => name === variant);
    if (!summary?.compilations.some(compilation => compilation.breaks > 0)) {
      return { breaks: [], compilations: [] };
    }
    try {
      return await this._model.getVariant(variant);
    } catch {
      return null;
    }
  }

  private async _mark(
    cell: Cell,
    marks: readonly IBreakMark[],
    ticket: number
  ): Promise<void> {
    // A cell outside of the window gets its editor once it is scrolled to.
    await cell.ready;
    const { editor } = cell;
    if (editor && ticket === this._ticket && !this._isDisposed) {
      markBreaks(editor, marks);
      this._marked.add(editor);
    }
  }

  private _isDisposed = false;
  private _ticket = 0;
  private _marked = new Set<CodeEditor.IEditor>();
  private _debouncer = new Debouncer(() => this._update(), DELAY_MS);
}

/**
 * What to mark in each file, of those that are cells.
 *
 * @param files - The texts of the cells.
 */
export function marksOf(
  breaks: readonly DistinctBreak[],
  files: Readonly<Record<string, string>>,
  trans: TranslationBundle
): ReadonlyMap<string, readonly IBreakMark[]> {
  const byCell = new Map<string, Map<number, DistinctBreak[]>>();
  for (const distinctBreak of breaks) {
    const place = cellLine(distinctBreak, files);
    if (place) {
      const lines =
        byCell.get(place.file) ?? new Map<number, DistinctBreak[]>();
      lines.set(place.line, [...(lines.get(place.line) ?? []), distinctBreak]);
      byCell.set(place.file, lines);
    }
  }
  return new Map(
    [...byCell].map(([file, lines]) => [
      file,
      [...lines].map(([line, onLine]) => ({
        line,
        label: labelOf(onLine, trans),
        reason: onLine
          .map(({ cause }) =>
            trans.__(
              'Graph break: %1',
              [cause.reason, cause.explanation].filter(Boolean).join('\n')
            )
          )
          .join('\n\n')
      }))
    ])
  );
}

/**
 * The innermost line of a break that stands in a cell.
 */
function cellLine(
  { cause }: DistinctBreak,
  files: Readonly<Record<string, string>>
): SourceLine | undefined {
  return [cause.where, ...[...cause.stack].reverse()].find(
    (line): line is SourceLine => line !== null && line.file in files
  );
}

function labelOf(
  breaks: readonly DistinctBreak[],
  trans: TranslationBundle
): string {
  const count = breaks.reduce(
    (sum, distinctBreak) => sum + distinctBreak.count,
    0
  );
  return trans._n('graph break', 'graph break × %1', count);
}
