import { Decoration, WidgetType } from '@codemirror/view';
import type { Text } from '@codemirror/state';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import { Marker } from './marker';

/**
 * A line where a graph broke.
 */
export interface IBreakMark {
  /**
   * From 1.
   */
  readonly line: number;

  /**
   * What to call it, short.
   */
  readonly label: string;

  /**
   * Why, for who hovers.
   */
  readonly reason: string;
}

const selected = Decoration.line({ class: 'jp-Compilescope-cellLine' });

const lines = new Marker<number>((doc, numbers) =>
  Decoration.set(
    numbers
      .filter(number => isLine(doc, number))
      .map(number => selected.range(doc.line(number).from)),
    true
  )
);

const breaks = new Marker<IBreakMark>((doc, marks) =>
  Decoration.set(
    marks
      .filter(({ line }) => isLine(doc, line))
      .flatMap(({ line, label, reason }) => {
        const { from, to, text } = doc.line(line);
        const start = from + (text.length - text.trimStart().length);
        const tag = Decoration.widget({
          widget: new Tag(label, reason),
          side: 1
        });
        return start < to
          ? [
              Decoration.mark({
                class: 'jp-Compilescope-breakLine',
                attributes: { title: reason }
              }).range(start, to),
              tag.range(to)
            ]
          : [tag.range(to)];
      }),
    true
  )
);

/**
 * Mark lines of an editor as selected, and only these.
 *
 * @param numbers - From 1; lines that do not exist are left out.
 */
export function markLines(
  editor: CodeEditor.IEditor,
  numbers: readonly number[]
): void {
  lines.mark(editor, numbers);
}

/**
 * Take out what `markLines` put in.
 */
export function unmark(editor: CodeEditor.IEditor): void {
  lines.remove(editor);
}

/**
 * Mark lines of an editor where graphs broke, and only these.
 */
export function markBreaks(
  editor: CodeEditor.IEditor,
  marks: readonly IBreakMark[]
): void {
  breaks.mark(editor, marks);
}

/**
 * Take out what `markBreaks` put in.
 */
export function unmarkBreaks(editor: CodeEditor.IEditor): void {
  breaks.remove(editor);
}

/**
 * What stands behind a line where a graph broke.
 */
class Tag extends WidgetType {
  constructor(
    readonly label: string,
    readonly reason: string
  ) {
    super();
  }

  override eq(other: Tag): boolean {
    return other.label === this.label && other.reason === this.reason;
  }

  override toDOM(): HTMLElement {
    const node = document.createElement('span');
    node.className = 'jp-Compilescope-breakTag';
    node.textContent = this.label;
    node.title = this.reason;
    node.setAttribute('role', 'note');
    node.setAttribute('aria-label', this.reason);
    return node;
  }
}

function isLine(doc: Text, line: number): boolean {
  return line >= 1 && line <= doc.lines;
}
