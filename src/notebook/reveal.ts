import { Notification } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ISourcePosition } from '../interfaces/selection';
import { cellsWith } from './cells';

/**
 * Shows lines of the user's code where they stand.
 */
export class Revealer {
  constructor(private _options: Revealer.IOptions) {}

  /**
   * Scroll to a line's cell, or open its file there.
   *
   * @param files - The texts of the report's cells and files.
   * @param notebook - The notebook whose report it is; null for a file's.
   */
  async reveal(
    source: ISourcePosition,
    files: Record<string, string>,
    notebook: NotebookPanel | null
  ): Promise<void> {
    const text = files[source.file];
    const [cell] =
      notebook && text !== undefined ? cellsWith(notebook.content, text) : [];
    if (notebook && cell) {
      this._options.activate(notebook.id);
      const { content } = notebook;
      const index = content.widgets.indexOf(cell);
      await content.scrollToItem(index);
      await cell.ready;
      content.activeCellIndex = index;
      cell.editor?.setCursorPosition({ line: source.line - 1, column: 0 });
      cell.editor?.revealPosition({ line: source.line - 1, column: 0 });
      return;
    }
    await this._openFile(source);
  }

  private async _openFile({ file, line }: ISourcePosition): Promise<void> {
    const { commands, contents, trans } = this._options;
    const path = servedPath(file, PageConfig.getOption('serverRoot'));
    const isThere =
      path !== null &&
      (await contents.get(path, { content: false }).then(
        () => true,
        () => false
      ));
    if (!isThere) {
      Notification.info(
        /^<|ipykernel_|^<?ipython/.test(file)
          ? trans.__(
              'The cell with line %1 was edited or deleted after it was compiled.',
              line
            )
          : trans.__(
              '%1:%2 is outside the folder that JupyterLab serves.',
              file,
              line
            ),
        { autoClose: 8000 }
      );
      return;
    }
    const widget = (await commands.execute('docmanager:open', {
      path,
      factory: 'Editor'
    })) as IEditorWidget | undefined;
    await widget?.context.ready;
    const position = { line: line - 1, column: 0 };
    widget?.content.editor?.setCursorPosition(position);
    widget?.content.editor?.revealPosition(position);
  }
}

/**
 * The namespace for `Revealer` statics.
 */
export namespace Revealer {
  /**
   * What it takes to show a line.
   */
  export interface IOptions {
    commands: CommandRegistry;
    contents: Contents.IManager;
    activate: (id: string) => void;
    trans: TranslationBundle;
  }
}

/**
 * The path, as JupyterLab's server has it, of a file of the kernel's.
 *
 * @param root - The folder that the server shows; the server writes the home
 * folder as `~`.
 *
 * @returns Null if the file lies elsewhere.
 */
export function servedPath(file: string, root: string): string | null {
  const normal = (path: string) => path.replace(/\\/g, '/');
  const path = normal(file);
  const folder = normal(root).replace(/\/+$/, '') + '/';
  if (!folder.startsWith('~')) {
    return path.startsWith(folder) ? path.slice(folder.length) : null;
  }
  const tail = folder.slice(1);
  // The home folder is not known here: it is the part before the tail.
  const home =
    /^(\/root|(\/var)?\/home\/[^/]+|([A-Za-z]:)?\/Users\/[^/]+)(?=\/)/.exec(
      path
    )?.[0];
  return home !== undefined && path.slice(home.length).startsWith(tail)
    ? path.slice(home.length + tail.length)
    : null;
}

interface IEditorWidget {
  context: { ready: Promise<void> };
  content: {
    editor?: {
      setCursorPosition: (position: IPosition) => void;
      revealPosition: (position: IPosition) => void;
    };
  };
}

interface IPosition {
  line: number;
  column: number;
}
