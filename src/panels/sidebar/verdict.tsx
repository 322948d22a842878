import * as React from 'react';
import type { VariantSummary } from '../../protocol/types';
import { formatMicroseconds, formatRatio } from './format';
import { Section } from './section';
import type { IPartProps } from './types';

/**
 * Which variant was fastest, no more than what the intervals allow.
 */
export function Verdict({ state, trans }: IPartProps): JSX.Element {
  const [first, second] = (state.report?.variants ?? [])
    .filter(isTimed)
    .sort((a, b) => a.median_us - b.median_us);
  let text: string;
  if (!first || !second) {
    text = trans.__('Measured after “Build and time”.');
  } else if (second.interval_us[0] <= first.interval_us[1]) {
    text = trans.__(
      'No clear winner: the 95 % intervals of %1 and %2 overlap.',
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
  return (
    <Section name="verdict" title={trans.__('Verdict')}>
      <p className="jp-Compilescope-verdict">{text}</p>
    </Section>
  );
}

type Timed = VariantSummary & {
  median_us: number;
  interval_us: [number, number];
};

function isTimed(variant: VariantSummary): variant is Timed {
  return (
    variant.median_us !== null &&
    variant.interval_us !== null &&
    variant.accurate !== false
  );
}
