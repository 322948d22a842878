import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { isOnlyForTargets } from '../../../model/variants';
import type { VariantSummary } from '../../../protocol/types';
import {
  formatInterval,
  formatMicroseconds,
  formatSeconds,
  hasName
} from '../../../words/format';
import { speedupClass } from '../../common/speedup';
import { Processes } from './processes';
import { Section } from '../section';
import { CheckOutcome, EstimatedTime, title, wasChecked } from './targetCells';
import type { IPartProps } from '../types';
import { DeclaredCells, declaredHeads } from '../../common/tables/declared';
import { TableHead } from '../../common/tables/figures';
import { TABLES } from '../../../words/tables';

/**
 * If a title is longer than this, titles have their own lines in a narrow
 * sidebar.
 */
const LONG_TITLE = 12;

/**
 * The style sheet aligns these columns.
 */
const TEXT = { isNumber: false };

/**
 * Modifiers of the table for the columns in which no variant has a value.
 */
function empty(
  variants: readonly VariantSummary[],
  isEstimated: boolean
): string[] {
  const values: Record<string, (variant: VariantSummary) => boolean> = {
    times: ({ median_us }) => isEstimated || median_us !== null,
    speedups: ({ speedup }) => speedup !== null,
    compiles: ({ compile_s }) => compile_s !== null,
    checks: ({ accurate, target }) =>
      accurate !== null || (target !== null && wasChecked(target))
  };
  return Object.entries(values)
    .filter(([, has]) => !variants.some(has))
    .map(([column]) => `jp-mod-no-${column}`);
}

/**
 * The variants and their measurements; for a trace, its processes.
 */
export function Variants({
  state,
  actions,
  trans
}: IPartProps): JSX.Element | null {
  const variants = state.report?.variants ?? [];
  const trace = state.report?.trace;
  if (trace) {
    return (
      <Processes
        processes={trace.processes}
        onShow={actions.showVariant}
        trans={trans}
      />
    );
  }
  const isEstimated = isOnlyForTargets(variants);
  const { left, right } = state.sides;
  const overview = state.report?.overview;
  const titles = new Map(
    [...(overview?.results ?? []), ...(overview?.targets ?? [])].map(result => [
      result.variant,
      result.title
    ])
  );
  const titleOf = ({ name }: VariantSummary) => titles.get(name) ?? name;
  // One layout for all rows and their header.
  const isLong =
    !isEstimated &&
    variants.some(variant => titleOf(variant).length > LONG_TITLE);
  return (
    <Section name="variants" title={trans.__('Variants')}>
      <table
        className={[
          'jp-Compilescope-variants',
          ...(isLong ? ['jp-mod-long'] : []),
          ...empty(variants, isEstimated)
        ].join(' ')}
        aria-label={trans.__('Variants')}
      >
        <TableHead
          heads={declaredHeads('variants', trans, {
            median: !isEstimated && {
              ...TEXT,
              label: TABLES.results(trans).latency.title,
              title: trans.__(
                'Its median; the 95 % interval alone where that says little'
              )
            },
            interval: false,
            estimated: isEstimated && TEXT,
            speedup: TEXT,
            host: false,
            device: false,
            samples: false,
            calls: false,
            warmup: false,
            compile: TEXT,
            accurate: {
              label: (
                <>
                  <span aria-hidden="true">✓</span>
                  <span className="jp-Compilescope-hidden">
                    {TABLES.variants(trans).accurate.title}
                  </span>
                </>
              )
            }
          })}
        />
        <tbody>
          {variants.map(variant => (
            <Row
              key={variant.name}
              variant={variant}
              title={titleOf(variant)}
              isEstimated={isEstimated}
              side={
                variant.name === left
                  ? trans.__('left')
                  : variant.name === right
                    ? trans.__('right')
                    : ''
              }
              onShow={actions.showVariant}
              trans={trans}
            />
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Row(props: {
  variant: VariantSummary;

  /**
   * The title, as in the Overview.
   */
  title: string;

  /**
   * Whether the column of times has only estimates.
   */
  isEstimated: boolean;
  side: string;
  onShow: (name: string) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { variant, isEstimated, side, trans } = props;
  const { median_us, interval_us, speedup, compile_s, accurate } = variant;
  const { target } = variant;
  const isEager = variant.requested.backend === null;
  const recompiles = variant.compilations.length;
  const interval = interval_us && formatInterval(interval_us);
  const latency =
    variant.latency.replaceAll(' ', '\u00a0') ||
    (median_us !== null && formatMicroseconds(median_us));
  const about = [
    // Its name, as in pickers and code, unless the title has it: `cpp dynamic on
    // h100 (H100 SXM)`.
    !hasName(props.title, variant.name) && <code>{variant.name}</code>,
    // A latency implies that it was built and run. A file of an earlier version has
    // no words.
    !latency && (variant.stage_words || variant.stage),
    recompiles > 1 && trans._n('%1 compilation', '%1 compilations', recompiles)
  ].filter(Boolean);
  const time = (
    <td title={interval ?? undefined}>
      {target && isEstimated ? (
        <EstimatedTime target={target} trans={trans} />
      ) : (
        latency || <Dash />
      )}
      {interval && !variant.latency.includes('–') && (
        <span className="jp-Compilescope-interval">{interval}</span>
      )}
    </td>
  );
  return (
    <tr className={`jp-mod-${variant.stage}`}>
      <DeclaredCells
        table="variants"
        trans={trans}
        cells={{
          variant: (
            <th scope="row">
              <button
                type="button"
                className="jp-Compilescope-link"
                title={
                  side
                    ? trans.__('%1: shown on the %2', variant.name, side)
                    : trans.__('Show the code of %1', variant.name)
                }
                onClick={() => props.onShow(variant.name)}
              >
                {props.title}
              </button>
              {target && !props.title.includes(target.title) && (
                <span
                  className="jp-Compilescope-targetName"
                  title={trans.__(
                    'The code is for %1; nothing runs on it',
                    title(target)
                  )}
                >
                  {target.title}
                </span>
              )}
              {target && !isEstimated && (
                <EstimatedTime target={target} trans={trans} />
              )}
              {about.length > 0 && (
                <span className="jp-Compilescope-stage">
                  {about.map((part, index) => (
                    <React.Fragment key={index}>
                      {index > 0 && ' · '}
                      {part}
                    </React.Fragment>
                  ))}
                </span>
              )}
            </th>
          ),
          median: !isEstimated && time,
          interval: false,
          estimated: isEstimated && time,
          speedup: (
            <td
              className={isEager ? undefined : speedupClass(speedup)}
              title={speedup?.detail}
            >
              {isEager ? (
                <span className="jp-Compilescope-muted">
                  {trans.__('baseline')}
                </span>
              ) : (
                (speedup?.text ?? <Dash />)
              )}
            </td>
          ),
          host: false,
          device: false,
          samples: false,
          calls: false,
          warmup: false,
          compile: (
            <td>{compile_s === null ? <Dash /> : formatSeconds(compile_s)}</td>
          ),
          accurate: (
            <td>
              {target && accurate === null ? (
                <CheckOutcome target={target} trans={trans} />
              ) : accurate === null ? (
                <Dash />
              ) : accurate ? (
                <span
                  className="jp-mod-ok"
                  title={trans.__('Same result as eager')}
                >
                  <span aria-hidden="true">✓</span>
                  <span className="jp-Compilescope-hidden">
                    {trans.__('yes')}
                  </span>
                </span>
              ) : (
                <span
                  className="jp-mod-bad"
                  title={trans.__(
                    'Differs from eager by more than the tolerance'
                  )}
                >
                  <span aria-hidden="true">✗</span>
                  <span className="jp-Compilescope-hidden">
                    {trans.__('no')}
                  </span>
                </span>
              )}
            </td>
          )
        }}
      />
    </tr>
  );
}

function Dash(): JSX.Element {
  return <span className="jp-Compilescope-muted">–</span>;
}
