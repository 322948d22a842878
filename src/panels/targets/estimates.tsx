import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import { formatMicroseconds } from '../../words/format';
import { AbsentValue } from '../common';
import { Estimate } from '../common/estimate';
import { Figures } from '../common/tables/figures';
import { ViewLink } from '../common/viewLink';
import type { IViewContext } from '../views';

/**
 * The estimated times of a call on devices that are not available, and their
 * limits. A kernel that takes less than its launch adds nothing to a call, so
 * no figure is below the cost of a launch.
 */
export function TargetEstimates(props: {
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element {
  const { context } = props;
  const { trans } = context;
  const variants = props.variants.filter(({ target }) => target !== null);
  const isPartial = variants.some(variant => variant.target!.estimate?.unknown);
  const estimates = variants.flatMap(({ target }) => target!.estimate ?? []);
  // What variants have in common appears once: the device, or how it is called.
  const notes = new Set([
    ...estimates.map(({ how }) => how),
    ...estimates.map(({ figures }) => figures),
    ...estimates.map(({ overhead }) => overhead)
  ]);
  return (
    <>
      <p>
        {trans.__(
          'Estimated, not measured: nothing runs on these devices. A call takes as long as its kernels or as launching them, whichever is longer.'
        )}
      </p>
      <Figures
        label={trans.__('Estimated times')}
        heads={[
          { label: trans.__('variant') },
          { label: trans.__('device') },
          { label: trans.__('time per call'), isNumber: true },
          { label: trans.__('limit') },
          { label: trans.__('launches'), isNumber: true },
          ...(isPartial
            ? [
                {
                  label: trans.__('not estimated'),
                  title: trans.__('Launches without an estimate'),
                  isNumber: true
                }
              ]
            : [])
        ]}
      >
        {variants.map(variant => (
          <Row
            key={variant.name}
            variant={variant}
            isPartial={isPartial}
            context={context}
          />
        ))}
      </Figures>
      <div className="jp-Compilescope-hint">
        {[...notes].filter(Boolean).map(note => (
          <div key={note}>{note}</div>
        ))}
      </div>
      <p>
        {trans.__('Generated code and compiled kernels: ')}
        <ViewLink view="kernels" of={variants[0]?.name} context={context} />
        {' · '}
        <ViewLink view="code" of={variants[0]?.name} context={context} />
        {'. '}
        {trans.__(
          'The devices’ figures, and what would be queried or measured on them: '
        )}
        <ViewLink view="requested" context={context} />
      </p>
    </>
  );
}

function Row(props: {
  variant: VariantReport;

  /**
   * Whether some launches have no estimate.
   */
  isPartial: boolean;
  context: IViewContext;
}): JSX.Element {
  const { name, target, absent, verdict } = props.variant;
  const { trans } = props.context;
  const { device, estimate } = target!;
  const why = absent.estimate ?? trans.__('Not estimated');
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{device.name}</td>
      <td className="jp-mod-number">
        <Estimate
          value={estimate?.call_us ?? null}
          exact={formatMicroseconds}
          format={formatMicroseconds}
          isLeast
          why={why}
          trans={trans}
        />
      </td>
      <td title={verdict?.evidence}>
        {verdict ? verdict.title : <AbsentValue why={why} />}
      </td>
      <td className="jp-mod-number">
        {estimate ? estimate.launches : <AbsentValue why={why} />}
      </td>
      {props.isPartial && (
        <td className="jp-mod-number">
          {estimate ? estimate.unknown : <AbsentValue why={why} />}
        </td>
      )}
    </tr>
  );
}
