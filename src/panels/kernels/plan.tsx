import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Baked, Kernel } from '../../protocol/types';
import { formatBytes } from '../../words/format';
import { Fact } from '../common';

/**
 * The maximum number of constants that are listed.
 */
const MAX_CONSTANTS = 12;

/**
 * Inductor's plan for a kernel: what it fused and saved, how it splits the
 * loops, and what the code assumes.
 */
export function Plan(props: {
  kernel: Kernel;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { kernel, trans } = props;
  const { fusion, tiling, baked } = kernel;
  if (!fusion && !tiling && baked.length === 0) {
    return null;
  }
  const tiles = Object.entries(tiling?.tile ?? {});
  return (
    <div>
      <h4>{trans.__('Plan')}</h4>
      <dl className="jp-Compilescope-kernelPlan">
        {fusion !== null && fusion.nodes > 0 && (
          <Fact label={trans.__('Fused')}>
            {trans._n('%1 operator', '%1 operators', fusion.nodes)}
            {fusion.kind && `, ${fusion.kind}`}
          </Fact>
        )}
        {fusion !== null && (fusion.saved_bytes ?? 0) > 0 && (
          <Fact
            label={trans.__('Saved')}
            title={trans.__(
              'Memory traffic of its operators run one by one, minus that of the kernel. Kept inside: %1',
              fusion.saved.join(', ')
            )}
          >
            ≈ {formatBytes(fusion.saved_bytes ?? 0)}
          </Fact>
        )}
        {fusion?.why && <Fact label="">{fusion.why}</Fact>}
        {tiling !== null && tiling.extents.length > 0 && (
          <Fact label={trans.__('Loops')}>
            <code>{tiling.extents.join(', ')}</code>
          </Fact>
        )}
        {tiles.length > 0 && (
          <Fact label={trans.__('Tile')}>
            <code>
              {tiles.map(([name, size]) => `${name} = ${size}`).join(', ')}
            </code>
          </Fact>
        )}
        {tiling?.vector && (
          <Fact label={trans.__('Vector')}>
            {tiling.vector_width !== null &&
              `${trans.__('%1 elements,', tiling.vector_width)} `}
            {tiling.vector}
          </Fact>
        )}
        {tiling?.threads && (
          <Fact label={trans.__('Threads')}>{tiling.threads}</Fact>
        )}
        {KINDS.map(
          kind =>
            [kind, baked.filter(constant => constant.kind === kind)] as const
        )
          .filter(([, constants]) => constants.length > 0)
          .map(([kind, constants]) => (
            <Fact
              key={kind}
              label={kindLabel(kind, trans)}
              title={kindTitle(kind, trans)}
            >
              <code>
                {constants.slice(0, MAX_CONSTANTS).map(bakedText).join(', ')}
              </code>
              {constants.length > MAX_CONSTANTS &&
                ` ${trans.__('and %1 more', constants.length - MAX_CONSTANTS)}`}
            </Fact>
          ))}
      </dl>
    </div>
  );
}

const KINDS: readonly Baked['kind'][] = [
  'size',
  'stride',
  'divisible',
  'aligned',
  'value'
];

function bakedText({ kind, name, value }: Baked): string {
  return kind === 'aligned' || kind === 'divisible'
    ? name
    : kind === 'value'
      ? value
      : kind === 'stride'
        ? `${value}·${name}`
        : `${name} = ${value}`;
}

function kindLabel(kind: Baked['kind'], trans: TranslationBundle): string {
  switch (kind) {
    case 'size':
      return trans.__('Specialized sizes');
    case 'stride':
      return trans.__('Specialized strides');
    case 'divisible':
      return trans.__('Divisible by 16');
    case 'aligned':
      return trans.__('Aligned to 16');
    case 'value':
      return trans.__('Constants');
  }
}

function kindTitle(kind: Baked['kind'], trans: TranslationBundle): string {
  switch (kind) {
    case 'size':
      return trans.__(
        'Numbers of elements and fixed block sizes: another size needs another kernel'
      );
    case 'stride':
      return trans.__(
        "Distances between elements in memory, hard-coded in the kernel's addresses"
      );
    case 'divisible':
      return trans.__('Integer arguments divisible by 16');
    case 'aligned':
      return trans.__('16-byte-aligned pointers');
    case 'value':
      return trans.__('Scalars of the program, inlined as constants');
  }
}
