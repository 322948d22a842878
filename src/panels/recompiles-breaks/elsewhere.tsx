import * as React from 'react';
import type { ISubjectModel } from '../../tokens';
import type { ICount } from '../../words/causes';

/**
 * Leads to the variant that has what is counted, where that is not the shown one.
 */
export function Elsewhere(props: {
  count: ICount;
  model: ISubjectModel;
}): JSX.Element | null {
  const { count, model } = props;
  const { text, of } = count;
  return of === undefined ? null : (
    <>
      {' '}
      <button
        type="button"
        className="jp-Compilescope-link"
        onClick={() => {
          model.variant = of;
        }}
      >
        {text}
      </button>
    </>
  );
}
