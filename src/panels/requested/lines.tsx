import * as React from 'react';
import { wrapperName } from '../../model/wrappers';
import type { Crossing, Route } from '../../protocol/types';
import type { IViewContext } from '../views';

/**
 * Lines of a generated wrapper, each with a link to the Code view.
 */
export function WrapperLines(props: {
  variant: string;
  compilation: string;
  of: Pick<Crossing | Route, 'artifact' | 'direction'>;
  lines: readonly number[];
  context: IViewContext;
}): JSX.Element {
  const { variant, compilation, of, lines, context } = props;
  const { model, trans } = context;
  const artifact = wrapperName(of.direction, of.artifact);
  return (
    <>
      {lines.map(line => (
        <button
          key={line}
          type="button"
          className="jp-Compilescope-link jp-mod-code"
          title={trans.__('Show line %1 in the code', line)}
          onClick={() => {
            model.select({ text: { variant, compilation, artifact, line } });
            context.open('code');
          }}
        >
          {line}
        </button>
      ))}
    </>
  );
}
