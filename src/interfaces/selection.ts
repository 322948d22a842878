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
   * The line, counted from 1; null for the whole text.
   */
  readonly line: number | null;

  /**
   * An artifact to show on the left, with this one on the right.
   */
  readonly beside?: string;

  /**
   * The variant of `beside`, if it differs.
   */
  readonly besideVariant?: string;

  /**
   * The compilation of `beside`, if it differs.
   */
  readonly besideCompilation?: string;
}

/**
 * The selection that all views share. The view that selects sets the fields
 * that it knows; each view derives what to highlight.
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
   * A text for the Code view to show.
   */
  readonly text: ITextPosition | null;

  /**
   * The view that made the selection, so that it recognizes its own.
   */
  readonly origin: object | null;
}

/**
 * Everything that a selection refers to in the shown compilation: source lines,
 * nodes, kernels, and regions of both wrappers.
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
   * What torch provides no mapping for, and why, as text to show; empty if
   * nothing is missing.
   */
  readonly missing: string;
}
