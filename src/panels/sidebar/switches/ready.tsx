import * as React from 'react';
import { isGeneratedAhead } from '../../../model/variants';
import type { IPartProps } from '../types';

/**
 * A note below `cpp_wrapper` if a flip shows its code immediately.
 */
export function CodeReadyNote({
  state,
  trans
}: IPartProps): JSX.Element | null {
  const { report, requested } = state;
  const other = { ...requested, cpp_wrapper: !requested.cpp_wrapper };
  if (!isGeneratedAhead(report, other)) {
    return null;
  }
  return (
    <p className="jp-Compilescope-ready">
      {other.cpp_wrapper
        ? trans.__('The code of the C++ wrapper is ready')
        : trans.__('The code of the Python wrapper is ready')}
    </p>
  );
}
