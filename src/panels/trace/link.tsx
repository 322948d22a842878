import * as React from 'react';
import type { IViewContext, ViewTarget } from '../views';

/**
 * A compilation by its id. A click selects it in all views.
 */
export function CompilationLink(props: {
  process: string;
  id: string;
  context: IViewContext;

  /**
   * The view to open.
   */
  view?: ViewTarget;
  children?: React.ReactNode;
}): JSX.Element {
  const { process, id, context, view = 'code' } = props;
  return (
    <button
      type="button"
      className="jp-Compilescope-link"
      title={context.trans.__('Show compilation %1 of %2', id, process)}
      onClick={() => {
        show(context, process, id);
        context.open(view);
      }}
    >
      {props.children ?? id}
    </button>
  );
}

/**
 * Selects a compilation of a process in all views.
 */
export function show(
  { model }: IViewContext,
  process: string,
  id: string
): void {
  model.variant = process;
  model.compilation = id;
}
