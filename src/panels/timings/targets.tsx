import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import { Absent } from '../common';
import { Estimate } from '../common/estimate';
import { formatMicroseconds } from '../../words/format';
import type { IViewContext } from '../views';
import { Figures } from '../common/tables/figures';
import { Part } from '../common/study';

/**
 * What a call would take at best on devices that are not there. It stands by
 * itself: nothing of it was measured.
 */
export function TargetEstimates(props: {
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element | null {
  const { trans } = props.context;
  const variants = props.variants.filter(({ target }) => target !== null);
  if (variants.length === 0) {
    return null;
  }
  const isPartial = variants.some(each => each.target!.estimate?.unknown);
  const notes = new Set(
    variants.flatMap(({ target }) => target!.estimate?.how || [])
  );
  return (
    <Part name="targets" title={trans.__('Estimated for other devices')}>
      <p className="jp-Compilescope-hint">
        {trans.__(
          'Nothing runs on them, so nothing is measured. These are lower bounds for the kernels.'
        )}
      </p>
      <Figures
        label={trans.__('Estimated times')}
        heads={[
          { label: trans.__('variant') },
          { label: trans.__('device') },
          { label: trans.__('kernels, at least'), isNumber: true },
          {
            label: trans.__('launching'),
            title: trans.__(
              'CPU time for the launches that kernels do not hide; not part of the kernels’ time'
            ),
            isNumber: true
          },
          { label: trans.__('launches'), isNumber: true },
          ...(isPartial
            ? [
                {
                  label: trans.__('not in it'),
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
            context={props.context}
          />
        ))}
      </Figures>
      {[...notes].map(note => (
        <p key={note} className="jp-Compilescope-hint">
          {note}
        </p>
      ))}
    </Part>
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
  const { name, target, absent } = props.variant;
  const { trans } = props.context;
  const { device, estimate } = target!;
  const why = absent.estimate ?? trans.__('Not estimated');
  const time = (us: number | undefined, isLeast: boolean) => (
    <td className="jp-mod-number">
      <Estimate
        value={us ?? null}
        exact={formatMicroseconds}
        isLeast={isLeast}
        format={formatMicroseconds}
        why={why}
        trans={trans}
      />
    </td>
  );
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{device.name}</td>
      {time(estimate?.kernels_us, true)}
      {time(estimate?.launch_us, false)}
      <td className="jp-mod-number">
        {estimate ? estimate.launches : <Absent why={why} />}
      </td>
      {props.isPartial && (
        <td className="jp-mod-number">
          {estimate ? estimate.unknown : <Absent why={why} />}
        </td>
      )}
    </tr>
  );
}
