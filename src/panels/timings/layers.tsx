import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Layer, Layers, VariantReport } from '../../protocol/types';
import {
  formatInterval,
  formatMicroseconds,
  formatShare
} from '../../words/format';
import { layerClass, LAYER_ORDER, layerTitle } from '../../words/layers';
import { directionTitle } from '../../words/directions';
import { Figures } from '../common/tables/figures';

/**
 * The layers of one direction of a variant.
 */
interface IStack {
  readonly name: string;
  readonly direction: Layers['direction'];
  readonly layers: Layers;
}

/**
 * Where one call's time goes: a bar for each variant, on one scale, and the
 * figures, which serve as the bars' legend.
 */
export function LayersPart(props: {
  variants: readonly VariantReport[];
  trans: TranslationBundle;
}): JSX.Element {
  const { variants, trans } = props;
  const stacks = variants.flatMap(({ name, layers }): IStack[] =>
    layers.map(layer => ({ name, direction: layer.direction, layers: layer }))
  );
  if (stacks.length === 0) {
    return (
      <p className="jp-Compilescope-hint">
        {variants.find(variant => variant.absent.layers)?.absent.layers ??
          trans.__(
            'Guards, runtime, wrapper, launches and kernels, each measured separately; the sum is checked against the whole call.'
          )}
      </p>
    );
  }
  const longest = Math.max(
    ...stacks.map(({ layers }) => Math.max(layers.sum_us, layers.whole_us))
  );
  return (
    <>
      <div className="jp-Compilescope-stacks" role="list">
        {stacks.map(stack => (
          <Stack
            key={titleOf(stack, trans)}
            stack={stack}
            longest={longest}
            trans={trans}
          />
        ))}
      </div>
      <LayersTable stacks={stacks} trans={trans} />
      <Methods stacks={stacks} trans={trans} />
    </>
  );
}

function Stack(props: {
  stack: IStack;
  longest: number;
  trans: TranslationBundle;
}): JSX.Element {
  const { stack, longest, trans } = props;
  const { layers } = stack;
  const part = (us: number) =>
    `${longest > 0 ? (Math.max(0, us) / longest) * 100 : 0}%`;
  return (
    <div className="jp-Compilescope-stack" role="listitem">
      <span className="jp-Compilescope-stackName" title={stack.name}>
        {titleOf(stack, trans)}
      </span>
      <div className="jp-Compilescope-stackBar" aria-hidden="true">
        {layers.layers.map((layer, index) => (
          <span
            key={index}
            className={layerClass(layer.kind)}
            style={{ width: part(layer.us) }}
            title={hover(layer, trans)}
          />
        ))}
        <span
          className="jp-Compilescope-stackWhole"
          style={{ left: part(layers.whole_us) }}
          title={trans.__(
            'The call as a whole: %1',
            formatMicroseconds(layers.whole_us)
          )}
        />
      </div>
      <span
        className={`jp-Compilescope-stackSum${layers.agrees ? '' : ' jp-mod-off'}`}
      >
        {trans.__(
          'sum %1 of %2',
          formatMicroseconds(layers.sum_us),
          formatMicroseconds(layers.whole_us)
        )}
      </span>
      {layers.why && <p className="jp-Compilescope-stackWhy">{layers.why}</p>}
    </div>
  );
}

function LayersTable(props: {
  stacks: readonly IStack[];
  trans: TranslationBundle;
}): JSX.Element {
  const { stacks, trans } = props;
  const kinds = LAYER_ORDER.filter(kind =>
    stacks.some(({ layers }) => layers.kinds.some(sum => sum.kind === kind))
  );
  return (
    <Figures
      label={trans.__('Layers as a table')}
      caption={trans.__('Where one call’s time goes, in µs')}
      heads={[
        trans.__('Layer'),
        ...stacks.map(stack => ({
          label: titleOf(stack, trans),
          isNumber: true,
          span: 2
        }))
      ]}
      foot={
        <>
          <tr>
            <th scope="row">{trans.__('sum')}</th>
            {stacks.map(({ layers }, index) => (
              <React.Fragment key={index}>
                <td className="jp-mod-number">
                  {formatMicroseconds(layers.sum_us)}
                </td>
                <td className="jp-mod-number">{shareText(layers.sum_share)}</td>
              </React.Fragment>
            ))}
          </tr>
          <tr>
            <th scope="row">{trans.__('the call as a whole')}</th>
            {stacks.map(({ layers }, index) => (
              <React.Fragment key={index}>
                <td
                  className="jp-mod-number"
                  title={
                    layers.whole_interval_us
                      ? trans.__(
                          '95 % interval %1',
                          formatInterval(layers.whole_interval_us)
                        )
                      : undefined
                  }
                >
                  {formatMicroseconds(layers.whole_us)}
                </td>
                <td />
              </React.Fragment>
            ))}
          </tr>
        </>
      }
    >
      {kinds.map(kind => (
        <tr key={kind}>
          <th scope="row">
            <span className={layerClass(kind)} aria-hidden="true" />
            {layerTitle(kind)}
          </th>
          {stacks.map(stack => {
            const ofKind = stack.layers.layers.filter(
              layer => layer.kind === kind
            );
            const sum = stack.layers.kinds.find(sum => sum.kind === kind);
            return (
              <React.Fragment key={titleOf(stack, trans)}>
                <td
                  className="jp-mod-number"
                  title={ofKind.map(layer => hover(layer, trans)).join('\n')}
                >
                  {sum ? timeText(sum.us) : '–'}
                </td>
                <td className="jp-mod-number jp-Compilescope-muted">
                  {sum && shareText(sum.share)}
                </td>
              </React.Fragment>
            );
          })}
        </tr>
      ))}
    </Figures>
  );
}

/**
 * How each layer was measured, once for all layers with the same description.
 */
function Methods(props: {
  stacks: readonly IStack[];
  trans: TranslationBundle;
}): JSX.Element | null {
  const { stacks, trans } = props;
  const methods = new Map<string, Set<Layer['kind']>>();
  for (const { kind, how } of stacks.flatMap(stack => stack.layers.layers)) {
    if (how) {
      methods.set(how, (methods.get(how) ?? new Set()).add(kind));
    }
  }
  return methods.size === 0 ? null : (
    <details className="jp-Compilescope-methods">
      <summary>{trans.__('How each was measured')}</summary>
      <dl>
        {[...methods].map(([how, kinds]) => (
          <React.Fragment key={how}>
            <dt>{[...kinds].map(kind => layerTitle(kind)).join(', ')}</dt>
            <dd>{how}</dd>
          </React.Fragment>
        ))}
      </dl>
    </details>
  );
}

function titleOf(
  { name, direction }: IStack,
  trans: TranslationBundle
): string {
  return direction === 'inference'
    ? name
    : `${name} · ${directionTitle(direction, trans)}`;
}

/**
 * A layer that is the difference of two times may be within their noise.
 */
function timeText(us: number): string {
  return us > 0 ? formatMicroseconds(us) : '≈ 0';
}

function shareText(share: number | null): string {
  return share === null ? '' : formatShare(share);
}

function hover(layer: Layer, trans: TranslationBundle): string {
  const { kind, us, interval_us: interval, compilation, how } = layer;
  const title = layerTitle(kind);
  return [
    compilation ? `${title} (${compilation})` : title,
    us > 0
      ? [formatMicroseconds(us), shareText(layer.share)]
          .filter(Boolean)
          .join(' · ')
      : trans.__('indistinguishable from noise'),
    interval ? trans.__('95 % interval %1', formatInterval(interval)) : '',
    layer.device_us === null
      ? ''
      : trans.__(
          '%1 on the device in total; the rest overlaps with host work',
          formatMicroseconds(layer.device_us)
        ),
    how
  ]
    .filter(Boolean)
    .join('\n');
}
