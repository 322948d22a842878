import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { GraphTiers, Tier } from '../../protocol/types';
import { formatMicroseconds, formatSeconds } from '../../words/format';
import { Section } from './section';
import type { IPartProps } from './types';

/**
 * Which wrapper serves each graph of the backend `compilescope`, with a switch
 * that keeps the Python wrapper. Nothing where nothing was compiled so.
 */
export function Tiers({
  state,
  actions,
  trans
}: IPartProps): JSX.Element | null {
  const { tiers, status } = state;
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
              <span>
                {graph.serving === 'cpp'
                  ? trans.__('served by the C++ wrapper')
                  : trans.__('served by the Python wrapper')}
              </span>
              <label
                title={trans.__(
                  'Keep the Python wrapper, even once the C++ wrapper is built'
                )}
              >
                <input
                  type="checkbox"
                  role="switch"
                  className="jp-Compilescope-toggle"
                  aria-label={trans.__('Pin %1 to the Python wrapper', name)}
                  aria-checked={graph.pinned}
                  checked={graph.pinned}
                  disabled={status.kind !== 'ready'}
                  onChange={event =>
                    actions.pinTier(graph.number, event.target.checked)
                  }
                />
                {trans.__('Pin')}
              </label>
              {[...stagesOf(graph, trans), gainText(graph, trans), why]
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

/**
 * What became of both wrappers of a graph, with times.
 */
function stagesOf(graph: GraphTiers, trans: TranslationBundle): string[] {
  return graph.tiers.map(tier => {
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
 * The median time of a call under both wrappers, as it was measured after the
 * swap; empty before.
 */
function gainText({ gain }: GraphTiers, trans: TranslationBundle): string {
  if (!gain) {
    return '';
  }
  const times = [
    formatMicroseconds(gain.python_us),
    formatMicroseconds(gain.cpp_us)
  ];
  const text = gain.is_host_time
    ? trans.__('%1 → %2 of host time per call', ...times)
    : trans.__('%1 → %2 per call', ...times);
  const [pythonLow, pythonHigh] = gain.python_quartiles_us;
  const [cppLow, cppHigh] = gain.cpp_quartiles_us;
  return cppHigh < pythonLow || pythonHigh < cppLow
    ? text
    : trans.__('%1, no clear difference', text);
}

/**
 * Why a graph has no second tier; empty if it has one.
 */
function whyNot(graph: GraphTiers): string {
  return graph.tiers.map(({ problem, why }) => problem?.why ?? why).join('');
}
