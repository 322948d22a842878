import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Descriptor } from '../../protocol/types';
import { TableHead } from '../common/tables/figures';

/**
 * The TMA descriptors that a kernel uses.
 */
export function Descriptors(props: {
  descriptors: readonly Descriptor[];
  trans: TranslationBundle;
}): JSX.Element {
  const { descriptors, trans } = props;
  const reasons = [
    ...new Set(descriptors.map(descriptor => descriptor.why))
  ].filter(Boolean);
  return (
    <>
      <div
        className="jp-Compilescope-descriptors"
        tabIndex={0}
        role="group"
        aria-label={trans.__('TMA descriptors')}
      >
        <table aria-label={trans.__('TMA descriptors')}>
          <TableHead
            heads={[
              trans.__('name'),
              trans.__('tensor'),
              trans.__('strides'),
              trans.__('block'),
              trans.__('built')
            ]}
          />
          <tbody>
            {descriptors.map((descriptor, index) => (
              <tr key={index}>
                <th scope="row">
                  <code>{descriptor.name}</code>
                </th>
                <td>
                  <code>
                    {descriptor.dtype}
                    {bracketed(descriptor.shape)}
                  </code>
                </td>
                <td>
                  <code>{bracketed(descriptor.strides)}</code>
                </td>
                <td>
                  <code>{bracketed(descriptor.block)}</code>
                </td>
                <td>{builtText(descriptor, trans)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {reasons.map(why => (
        <p key={why} className="jp-Compilescope-muted">
          {why}
        </p>
      ))}
    </>
  );
}

function bracketed(values: readonly string[]): string {
  return values.length > 0 ? `[${values.join(', ')}]` : '';
}

function builtText(
  { made: builtOn, built, line }: Descriptor,
  trans: TranslationBundle
): string {
  const where =
    line === null
      ? ''
      : builtOn === 'device'
        ? ` · ${trans.__('line %1', line)}`
        : '';
  switch (built) {
    case 'once':
      return trans.__('once, by the wrapper');
    case 'each call':
      return trans.__('at each call, by the wrapper');
    default:
      return trans.__('by each block, in the kernel') + where;
  }
}
