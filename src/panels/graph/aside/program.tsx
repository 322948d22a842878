import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IconButton } from '../../common/button';
import { ReproducerPart } from '../../common/reproducer';
import type { IViewContext } from '../../views';
import type { IGraphData } from '../types';
import { stageTitle } from '../words';

/**
 * The program that compiles only one stage's graph, beside the graph.
 */
export function StageProgram(props: {
  context: IViewContext;
  data: IGraphData;
  stage: string;
  onClose: () => void;
}): JSX.Element {
  const { context, data, stage } = props;
  const { trans } = context;
  const title = trans.__('%1 as standalone program', stageTitle(stage, trans));
  const [minify, setMinify] = React.useState(false);
  const isFailed = context.model.report?.variants.some(
    variant =>
      variant.name === data.variant &&
      (variant.stage === 'failed' || variant.accurate === false)
  );
  return (
    <aside className="jp-Compilescope-graph-program" aria-label={title}>
      <header>
        <h4>{title}</h4>
        <IconButton
          icon={closeIcon}
          label={trans.__('Close')}
          onClick={props.onClose}
        />
      </header>
      {isFailed && (
        <label>
          <input
            type="checkbox"
            checked={minify}
            onChange={event => setMinify(event.currentTarget.checked)}
          />
          {trans.__(
            'The smallest part of it that fails in the same way (up to 5 min)'
          )}
        </label>
      )}
      <ReproducerPart
        part={{
          variant: data.variant,
          compilation: data.compilation,
          graph: stage,
          minify: isFailed && minify
        }}
        context={context}
      />
    </aside>
  );
}
