import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { AbsentValue, compareNumbers } from '../common';
import { formatBytes, formatCount } from '../../words/format';
import type { ColumnChange } from '../common/tables/declared';
import { Estimate } from '../common/estimate';
import type { IRow } from './rows';

/**
 * The columns of the operators fused into a kernel: how many, and how much that
 * saves.
 *
 * @param from - The widths from which each is shown, in pixels.
 */
export function fusionColumns(
  from: {
    readonly fused: number | undefined;
    readonly saved: number | undefined;
  },
  trans: TranslationBundle
): Record<'fused' | 'saved', ColumnChange<IRow>> {
  const fused = ({ kernel }: IRow) => kernel.fusion?.nodes || null;
  // A library's kernel is a single operator: nothing is fused.
  const saved = ({ kernel }: IRow) =>
    kernel.language === 'extern' ? null : (kernel.fusion?.saved_bytes ?? null);
  const why = ({ kernel }: IRow) =>
    (kernel.fusion ? kernel.fusion.why : kernel.absent.fusion) ||
    trans.__('Unknown for this kernel');
  return {
    fused: {
      width: '52px',
      from: from.fused,
      hasValue: row => fused(row) !== null,
      compare: (a, b) => compareNumbers(fused(a), fused(b)),
      render: row => {
        const count = fused(row);
        return count === null ? (
          <AbsentValue why={why(row)} />
        ) : (
          <span title={row.kernel.fusion?.kind}>{formatCount(count)}</span>
        );
      }
    },
    saved: {
      width: '80px',
      from: from.saved,
      hasValue: row => saved(row) !== null,
      compare: (a, b) => compareNumbers(saved(a), saved(b)),
      render: row => {
        const stay = row.kernel.fusion?.saved ?? [];
        return (
          <Estimate
            value={saved(row)}
            format={formatBytes}
            of={
              stay.length > 0
                ? trans.__('Kept inside: %1', stay.join(', '))
                : undefined
            }
            why={
              row.kernel.language === 'extern'
                ? trans.__('A library’s kernel is one operator')
                : why(row)
            }
            trans={trans}
          />
        );
      }
    }
  };
}
