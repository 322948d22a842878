/**
 * A line of the user's code.
 */
export interface ISourcePosition {
  readonly file: string;
  readonly line: number;
}

/**
 * A node of a graph.
 */
export interface INodePosition {
  readonly stage: string;
  readonly name: string;
}

/**
 * A line of a text of the report, or the text as a whole.
 */
export interface ITextPosition {
  readonly variant: string;
  readonly compilation: string;

  /**
   * The artifact's name, `cpp` or `kernel.forward.cpp_fused_add_0`.
   */
  readonly artifact: string;

  /**
   * The line, from 1; null is the text as a whole.
   */
  readonly line: number | null;

  /**
   * An artifact that it is to be read beside: that one left, this one right.
   */
  readonly beside?: string;

  /**
   * The variant that `beside` is of, where it is another.
   */
  readonly besideVariant?: string;

  /**
   * The compilation that `beside` is of, where it is another.
   */
  readonly besideCompilation?: string;
}

/**
 * What is selected in every view at once. Whoever selects gives what it knows;
 * every view finds what that means for it.
 */
export interface ISelection {
  /**
   * The key of the region (a kernel's launch, a buffer), as in `Region.key`.
   */
  readonly key: string | null;

  /**
   * The line of the user's code.
   */
  readonly source: ISourcePosition | null;

  /**
   * A node of a graph.
   */
  readonly node: INodePosition | null;

  /**
   * The name of a kernel.
   */
  readonly kernel: string | null;

  /**
   * A text for the code view to turn to.
   */
  readonly text: ITextPosition | null;

  /**
   * The view that selected, so that it can tell its own selections apart.
   */
  readonly origin: object | null;
}

/**
 * All that a selection means in the compilation that is shown: along source
 * line, node, kernel and the lines of both wrappers.
 */
export interface ILinked {
  /**
   * Keys of regions.
   */
  readonly keys: ReadonlySet<string>;

  /**
   * Names of kernels.
   */
  readonly kernels: ReadonlySet<string>;

  /**
   * Stage → names of nodes.
   */
  readonly nodes: ReadonlyMap<string, ReadonlySet<string>>;

  readonly sources: readonly ISourcePosition[];

  /**
   * What torch gives no mapping for, and why, as text to show; empty if
   * nothing is missing.
   */
  readonly missing: string;
}
