import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { AbsentValue } from './index';
import { formatCount } from '../../words/format';

/**
 * A figure that is estimated, not measured; it says so to the eye and to the
 * ear.
 */
export function Estimate(props: {
  value: number | null;
  format: (value: number) => string;

  /**
   * Why there is none.
   */
  why: string;

  /**
   * What it is of, for the title.
   */
  of?: string;

  /**
   * The whole title, where the report has it.
   */
  title?: string;

  /**
   * How the title writes the figure; with all its digits by default.
   */
  exact?: (value: number) => string;

  /**
   * Whether it is a bound: the figure may be more, not less.
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
