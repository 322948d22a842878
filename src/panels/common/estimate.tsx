import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { AbsentValue } from './index';
import { formatCount } from '../../words/format';

/**
 * A figure that is estimated, not measured, which is shown and also announced.
 */
export function Estimate(props: {
  value: number | null;
  format: (value: number) => string;

  /**
   * Why there is no estimate.
   */
  why: string;

  /**
   * The subject of the figure, for the tooltip.
   */
  of?: string;

  /**
   * The whole tooltip, if the report has it.
   */
  title?: string;

  /**
   * The format of the figure in the tooltip; by default with all its digits.
   */
  exact?: (value: number) => string;

  /**
   * Whether it is a lower bound: the true value may be greater.
   */
  isLeast?: boolean;
  trans: TranslationBundle;
}): JSX.Element {
  const { value, format, why, of, title, exact, isLeast, trans } = props;
  if (value === null) {
    return <AbsentValue why={why} />;
  }
  const text = format(value);
  return (
    <span
      className="jp-Compilescope-estimate"
      title={
        title ||
        trans.__('Estimated, not measured: %1', (exact ?? formatCount)(value)) +
          (of ? `\n${of}` : '')
      }
    >
      <span aria-hidden="true">{isLeast ? '≥ ' : '≈ '}</span>
      <span className="jp-Compilescope-hidden">
        {isLeast ? trans.__('at least') : trans.__('about')}{' '}
      </span>
      {text}
    </span>
  );
}
