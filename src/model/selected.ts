import type { ILinked, ISelection } from '../interfaces/selection';
import { type ILinkedModel, Linker, NO_SELECTION } from './links/linker';
import type { ReportReader } from './reading/reader';

/**
 * The selection, and what it refers to.
 */
export class Selected {
  constructor(private _options: Selected.IOptions) {
    this.linker = new Linker({ ..._options, onChange: _options.onLinked });
  }

  readonly linker: Linker;

  get selection(): ISelection {
    return this._selection;
  }

  get linked(): ILinked {
    return this.linker.linked;
  }

  /**
   * Replace the selection; fields that are left out are cleared.
   */
  select(selection: Partial<ISelection>): void {
    const next = { ...NO_SELECTION, ...selection };
    // Whoever asks for a text is to be shown it, however often it is asked for.
    if (next.text === null && isSame(next, this._selection)) {
      return;
    }
    this._selection = next;
    this.linker.start(next);
    this._options.onSelection(next);
    void this.linker.look();
  }

  private _selection = NO_SELECTION;
}

/**
 * The namespace for `Selected` statics.
 */
export namespace Selected {
  /**
   * What is selected from, and the callbacks.
   */
  export interface IOptions {
    model: ILinkedModel;
    reader: ReportReader;
    onSelection: (selection: ISelection) => void;
    onLinked: (linked: ILinked) => void;
  }
}

function isSame(a: ISelection, b: ISelection): boolean {
  return (
    a.key === b.key &&
    a.kernel === b.kernel &&
    a.node?.stage === b.node?.stage &&
    a.node?.name === b.node?.name &&
    a.source?.file === b.source?.file &&
    a.source?.line === b.source?.line
  );
}
