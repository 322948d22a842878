import * as React from 'react';
import { isOnlyForTargets } from '../../model/variants';
import type { VariantSummary } from '../../protocol/types';
import { boundTitle } from '../bounds';
import { formatMicroseconds, formatRatio } from './format';
import { Section } from './section';
import type { IPartProps } from './types';

/**
 * Which variant was fastest, no more than what the measurement allows, and what
 * each one's time is bound by.
 */
export function Verdict({ state, trans }: IPartProps): JSX.Element {
  const [first, second] = (state.report?.variants ?? [])
    .filter(isTimed)
    .sort((a, b) => a.median_us - b.median_us);
  let text: string;
  if (!first || !second) {
    text = isOnlyForTargets(state.report?.variants ?? [])
      ? trans.__('Nothing is timed: no variant is for a device that is here.')
      : trans.__('Measured after “Build and time”.');
  } else if (!isClear(first, second)) {
    text = trans.__(
      'No clear winner: %1 and %2 show no difference.',
      first.name,
      second.name
    );
  } else {
    text = trans.__(
      '%1 is fastest: %2 a call, %3 as fast as %4.',
      first.name,
      formatMicroseconds(first.median_us),
      formatRatio(second.median_us / first.median_us),
      second.name
    );
  }
  const judged = (state.report?.variants ?? []).flatMap(({ name, verdict }) =>
    verdict ? [{ name, verdict }] : []
  );
  return (
    <Section name="verdict" title={trans.__('Verdict')}>
      <p className="jp-Compilescope-verdict">{text}</p>
      {judged.map(({ name, verdict }) => (
        <p
          key={name}
          className={`jp-Compilescope-bound${verdict.estimated ? ' jp-mod-estimated' : ''}`}
          title={verdict.evidence}
        >
          <strong>{name}</strong>{' '}
          {verdict.estimated ? (
            // Its evidence begins with the word.
            <span className="jp-Compilescope-estimate">
              {boundTitle(verdict.bound, trans)}
            </span>
          ) : (
            boundTitle(verdict.bound, trans)
          )}
          <span className="jp-Compilescope-muted"> {verdict.evidence}</span>
        </p>
      ))}
    </Section>
  );
}

type Timed = VariantSummary & {
  median_us: number;
  interval_us: [number, number];
};

/**
 * Whether the first is faster than the second: by their ratio, where one of them
 * is the baseline and it was measured round by round; else by their intervals.
 */
function isClear(first: Timed, second: Timed): boolean {
  const isEager = (each: Timed) => each.requested.backend === null;
  const compiled = isEager(first) ? second : isEager(second) ? first : null;
  return compiled?.differs ?? second.interval_us[0] > first.interval_us[1];
}

function isTimed(variant: VariantSummary): variant is Timed {
  return (
    variant.median_us !== null &&
    variant.interval_us !== null &&
    variant.accurate !== false
  );
}
