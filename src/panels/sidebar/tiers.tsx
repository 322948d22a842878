import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { GraphTiers, Tier } from '../../protocol/types';
import { Section } from './section';
import type { IPartProps } from './types';

/**
 * Which tier serves each graph of the backend `compilescope`, with switches
 * that pin an earlier one. Nothing if nothing was compiled with that backend.
 */
export function Tiers({
  state,
  actions,
  trans
}: IPartProps): JSX.Element | null {
  const { tiers, status, isLive } = state;
  if (tiers.length === 0) {
    return null;
  }
  return (
    <Section name="tiers" title={trans.__('Tiers')} count={tiers.length}>
      <ul className="jp-Compilescope-tiers">
        {tiers.map(graph => {
          const name = `${graph.compilation} ${graph.kind}`;
          return (
            <li key={graph.number}>
              <span className="jp-Compilescope-tiersName">{name}</span>
              <span>{servingText(graph, trans)}</span>
              <div className="jp-Compilescope-tiersPins">
                {pinsOf(graph, name, trans).map(pin => (
                  <label key={pin.tier} title={pin.title}>
                    <input
                      type="checkbox"
                      role="switch"
                      className="jp-Compilescope-toggle"
                      aria-label={pin.name}
                      aria-checked={pin.isOn}
                      checked={pin.isOn}
                      disabled={!isLive || status.kind !== 'ready'}
                      onChange={event =>
                        actions.pinTier(
                          graph.number,
                          event.target.checked,
                          pin.tier
                        )
                      }
                    />
                    {pin.label}
                  </label>
                ))}
              </div>
              {graph.lines.map(line => (
                <p key={line} className="jp-Compilescope-hint">
                  {line}
                </p>
              ))}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function servingText(graph: GraphTiers, trans: TranslationBundle): string {
  switch (graph.serving) {
    case 'python':
      return trans.__('served by the Python wrapper');
    case 'cpp':
      return trans.__('served by the C++ wrapper');
    case 'cuda_graphs':
      return trans.__('served by CUDA graphs');
  }
}

/**
 * A switch that pins a graph to a tier.
 */
interface IPin {
  tier: Tier['name'];
  label: string;
  name: string;
  title: string;
  isOn: boolean;
}

/**
 * The tiers to which the graph can be pinned: all but the last.
 */
function pinsOf(
  graph: GraphTiers,
  name: string,
  trans: TranslationBundle
): IPin[] {
  const pinnedTo = graph.pinned ? (graph.pinned_to ?? 'python') : null;
  const python: IPin = {
    tier: 'python',
    label: trans.__('Pin'),
    name: trans.__('Pin %1 to the Python wrapper', name),
    title: trans.__(
      'Keep the Python wrapper, even once the C++ wrapper is built'
    ),
    isOn: pinnedTo === 'python'
  };
  if (!graph.tiers.some(tier => tier.name === 'cuda_graphs')) {
    return [python];
  }
  return [
    { ...python, label: trans.__('Pin to Python') },
    {
      tier: 'cpp',
      label: trans.__('Pin to C++'),
      name: trans.__('Pin %1 to the C++ wrapper', name),
      title: trans.__('Keep the C++ wrapper, without CUDA graphs'),
      isOn: pinnedTo === 'cpp'
    }
  ];
}
