import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Gain, GraphTiers, SwapGain, Tier } from '../../protocol/types';
import {
  formatBytes,
  formatMicroseconds,
  formatSeconds
} from '../../words/format';
import { Section } from './section';
import type { IPartProps } from './types';

/**
 * Which tier serves each graph of the backend `compilescope`, with switches
 * that keep an earlier one. Nothing where nothing was compiled so.
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
          const why = whyNot(graph);
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
              {[
                ...stagesOf(graph, trans),
                gainText(graph.gain && swapOf(graph.gain), trans),
                ...graphsTexts(graph, trans),
                why
              ]
                .filter(Boolean)
                .map(text => (
                  <p key={text} className="jp-Compilescope-hint">
                    {text}
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
 * A switch that keeps a graph with a tier.
 */
interface IPin {
  tier: Tier['name'];
  label: string;
  name: string;
  title: string;
  isOn: boolean;
}

/**
 * The tiers that a graph can be kept with: all but its last.
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

/**
 * What became of the CUDA graphs of a graph; nothing if nobody asked for any.
 */
function graphsTexts(graph: GraphTiers, trans: TranslationBundle): string[] {
  return graph.tiers
    .filter(tier => tier.name === 'cuda_graphs')
    .flatMap(tier => [
      graphsText(tier, trans),
      gainText(tier.gain, trans),
      tier.pool_bytes === null
        ? ''
        : trans.__(
            'Memory pool of the CUDA graphs on this device: %1',
            formatBytes(tier.pool_bytes)
          )
    ]);
}

function graphsText(tier: Tier, trans: TranslationBundle): string {
  const recorded =
    tier.seconds === null
      ? trans.__('CUDA graphs recorded')
      : trans.__('CUDA graphs recorded in %1', formatSeconds(tier.seconds));
  switch (tier.state) {
    case 'waits':
      return trans.__('CUDA graphs wait for the C++ wrapper');
    case 'records':
      return trans.__('CUDA graphs are recorded by the next calls');
    case 'failed':
      return trans.__('CUDA graphs failed');
    case 'unwanted':
      return trans.__('CUDA graphs not recorded');
    default:
      return tier.swapped_s === null
        ? recorded
        : trans.__(
            '%1, swapped in after %2',
            recorded,
            formatSeconds(tier.swapped_s)
          );
  }
}

/**
 * What became of both wrappers of a graph, with times.
 */
function stagesOf(graph: GraphTiers, trans: TranslationBundle): string[] {
  const wrappers = graph.tiers.filter(tier => tier.name !== 'cuda_graphs');
  return wrappers.map(tier => {
    const seconds = tier.seconds === null ? '' : formatSeconds(tier.seconds);
    if (tier.name === 'python') {
      return seconds
        ? trans.__('Python wrapper compiled in %1', seconds)
        : trans.__('Python wrapper compiled');
    }
    return nextText(tier, seconds, graph, trans);
  });
}

function nextText(
  tier: Tier,
  seconds: string,
  graph: GraphTiers,
  trans: TranslationBundle
): string {
  const built = seconds
    ? trans.__('C++ wrapper built in %1', seconds)
    : trans.__('C++ wrapper built');
  switch (tier.state) {
    case 'waits':
      return trans.__('C++ wrapper: build queued');
    case 'builds':
      return trans.__('C++ wrapper is being built');
    case 'checks':
      return graph.pinned
        ? built
        : trans.__('%1, checked at the next call', built);
    case 'failed':
      return trans.__('C++ wrapper failed');
    case 'unwanted':
      return trans.__('C++ wrapper not built');
    default:
      return tier.cached
        ? trans.__('C++ wrapper from the cache')
        : graph.swapped_s === null
          ? built
          : trans.__(
              '%1, swapped in after %2',
              built,
              formatSeconds(graph.swapped_s)
            );
  }
}

/**
 * What the swap to the C++ wrapper gained, as of any swap.
 */
function swapOf(gain: Gain): SwapGain {
  return {
    before_us: gain.python_us,
    after_us: gain.cpp_us,
    before_quartiles_us: gain.python_quartiles_us,
    after_quartiles_us: gain.cpp_quartiles_us,
    calls: gain.calls,
    is_host_time: gain.is_host_time
  };
}

/**
 * The median time of a call under both tiers, as it was measured after the
 * swap; empty before.
 */
function gainText(gain: SwapGain | null, trans: TranslationBundle): string {
  if (!gain) {
    return '';
  }
  const times = [
    formatMicroseconds(gain.before_us),
    formatMicroseconds(gain.after_us)
  ];
  const text = gain.is_host_time
    ? trans.__('%1 → %2 of host time per call', ...times)
    : trans.__('%1 → %2 per call', ...times);
  const [beforeLow, beforeHigh] = gain.before_quartiles_us;
  const [afterLow, afterHigh] = gain.after_quartiles_us;
  return afterHigh < beforeLow || beforeHigh < afterLow
    ? text
    : trans.__('%1, no clear difference', text);
}

/**
 * Why a graph has no next tier; empty if it has all.
 */
function whyNot(graph: GraphTiers): string {
  return graph.tiers
    .map(({ problem, why }) => problem?.why ?? why)
    .filter(Boolean)
    .join(' ');
}
