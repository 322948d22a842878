import * as React from 'react';
import type { VariantSummary } from '../../protocol/types';
import { StudyButton } from '../common/study';
import type { IViewContext } from '../views';

/**
 * The studies of kernels for a device that is not available: what they compile
 * to, and whether they compute the right values.
 */
export function TargetButtons(props: {
  variant: VariantSummary;

  /**
   * The name of the device.
   */
  title: string;
  context: IViewContext;
}): JSX.Element {
  const { variant, title, context } = props;
  const { trans } = context;
  const unbuilt = trans.__('No code was generated.');
  const isCompiled = (variant.target?.compiled ?? 0) > 0;
  return (
    <span className="jp-Compilescope-targetButtons">
      {!isCompiled && (
        <StudyButton
          study="assembly"
          label={trans.__('Compile for %1', title)}
          variants={[variant]}
          unbuilt={unbuilt}
          context={context}
        />
      )}
      {!variant.studied.includes('check') && (
        <StudyButton
          study="check"
          label={trans.__('Check without the device')}
          variants={[variant]}
          unbuilt={unbuilt}
          context={context}
        />
      )}
    </span>
  );
}
