import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { CudaGraphs, Skip, VariantReport } from '../../protocol/types';
import { Badge, CodeBlock, SourceLink } from '../common';
import { formatBytes } from '../../words/format';
import type { IViewContext } from '../views';

/**
 * What became of CUDA graphs under the variants that asked for them.
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
        <Badge kind={isGood ? 'good' : 'warning'}>
          {outcomeText(graphs, trans)}
        </Badge>
        <span>{figures(graphs, trans)}</span>
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
              <code>{`${part.compilation} ${part.name}`}</code>{' '}
              {part.captured ? trans.__('captured') : trans.__('not captured')}
              {', '}
              {trans._n('%1 launch', '%1 launches', part.kernels)}
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

function outcomeText(
  { outcome, calls }: CudaGraphs,
  trans: TranslationBundle
): string {
  const isForeseen = calls === 0;
  switch (outcome) {
    case 'captured':
      return isForeseen ? trans.__('would be captured') : trans.__('captured');
    case 'partly':
      return isForeseen
        ? trans.__('would be captured in part')
        : trans.__('captured in part');
    case 'skipped':
      return trans.__('not captured');
    case 'no GPU':
      return trans.__('no GPU');
    default:
      return trans.__('unknown');
  }
}

/**
 * What was counted, where it was.
 */
function figures(graphs: CudaGraphs, trans: TranslationBundle): string {
  if (graphs.calls === 0) {
    return '';
  }
  const counts = trans.__(
    'In %1 calls: %2 recorded, %3 replayed, %4 recorded again',
    graphs.calls,
    graphs.captured,
    graphs.replayed,
    graphs.re_recorded
  );
  return graphs.memory_bytes === null
    ? counts
    : `${counts}; ${trans.__('memory pool: %1', formatBytes(graphs.memory_bytes))}`;
}
