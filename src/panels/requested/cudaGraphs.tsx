import * as React from 'react';
import type { CudaGraphs, Skip, VariantReport } from '../../protocol/types';
import { Badge, CodeBlock, SourceLink } from '../common';
import type { IViewContext } from '../views';

/**
 * The result of CUDA graphs for the variants that requested them.
 */
export function CudaGraphsSection(props: {
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element | null {
  const { variants, context } = props;
  const { trans } = context;
  const asked = variants.flatMap(({ name, cuda_graphs: graphs }) =>
    graphs && graphs.outcome !== 'not asked' ? [{ name, graphs }] : []
  );
  if (asked.length === 0) {
    return null;
  }
  return (
    <section aria-labelledby="jp-Compilescope-cudaGraphs">
      <h3 id="jp-Compilescope-cudaGraphs">{trans.__('CUDA graphs')}</h3>
      <ul className="jp-Compilescope-cudaGraphs">
        {asked.map(({ name, graphs }) => (
          <li key={name}>
            <Card variant={name} graphs={graphs} context={context} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Card(props: {
  variant: string;
  graphs: CudaGraphs;
  context: IViewContext;
}): JSX.Element {
  const { variant, graphs, context } = props;
  const { trans } = context;
  const { outcome, skips, partitions } = graphs;
  const isGood = outcome === 'captured';
  return (
    <article className="jp-Compilescope-cudaGraph">
      <header>
        <Badge>{variant}</Badge>
        <Badge kind={isGood ? 'good' : 'warning'}>{graphs.words}</Badge>
        <span>{graphs.counts}</span>
      </header>
      {graphs.why && skips.length === 0 && <p>{graphs.why}</p>}
      {outcome !== 'no GPU' &&
        skips.map((skip, index) => (
          <SkipText key={index} skip={skip} context={context} />
        ))}
      {partitions.length > 0 && (
        <ol aria-label={trans.__('Parts of %1', variant)}>
          {partitions.map((part, index) => (
            <li
              key={index}
              className={part.captured ? 'jp-mod-captured' : undefined}
            >
              <code>{`${part.compilation} ${part.name}`}</code> {part.words}
              {part.why && (
                <small className="jp-Compilescope-muted"> {part.why}</small>
              )}
            </li>
          ))}
        </ol>
      )}
      {graphs.how && <p className="jp-Compilescope-hint">{graphs.how}</p>}
    </article>
  );
}

function SkipText(props: { skip: Skip; context: IViewContext }): JSX.Element {
  const { skip, context } = props;
  const { trans } = context;
  return (
    <div>
      <p>
        {skip.compilation && <Badge>{skip.compilation}</Badge>}{' '}
        {trans.__('torch: %1.', skip.reason)} {skip.meaning}
        {skip.where && (
          <>
            {' '}
            <SourceLink where={skip.where} context={context} isWithCode />
          </>
        )}
      </p>
      {skip.remedy && <p className="jp-Compilescope-remedy">{skip.remedy}</p>}
      {skip.setting && <CodeBlock code={skip.setting} trans={trans} />}
    </div>
  );
}
