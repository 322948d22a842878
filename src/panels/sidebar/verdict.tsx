import * as React from 'react';
import { Section } from './section';
import type { IPartProps } from './types';

/**
 * The report's conclusion in two sentences: the Overview has the rest.
 */
export function Verdict({ state, trans }: IPartProps): JSX.Element | null {
  const overview = state.report?.overview;
  if (!overview) {
    return null;
  }
  const { headline, limit } = overview;
  return (
    <Section name="verdict" title={trans.__('Verdict')}>
      <p className="jp-Compilescope-verdict">{headline}</p>
      {limit && limit.basis !== 'unknown' && (
        <p
          className={`jp-Compilescope-bound${limit.basis === 'estimated' ? ' jp-mod-estimated' : ''}`}
          title={limit.text}
        >
          {limit.headline}
          <span className="jp-Compilescope-muted">
            {' '}
            {limit.basis === 'estimated'
              ? trans.__('%1, estimated', limit.title)
              : limit.title}
          </span>
        </p>
      )}
    </Section>
  );
}
