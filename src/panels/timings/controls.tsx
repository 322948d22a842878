import type { TranslationBundle } from '@jupyterlab/translation';
import { pauseIcon, refreshIcon, runIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { VariantSummary } from '../../protocol/types';
import { Check, Select, whyAllFailed } from '../common';
import type { IMeasurementState } from './measurementState';

/**
 * The limits of a measurement's duration, in seconds.
 */
const SECONDS = [5, 10, 30, 120, 600];

/**
 * Start, pause and restart; for how long, and which variants.
 */
export function Controls(props: {
  state: IMeasurementState;
  variants: readonly VariantSummary[];

  /**
   * The names of the variants that are left out.
   */
  excluded: ReadonlySet<string>;
  onExclude: (name: string, isOut: boolean) => void;
  seconds: number;
  onSeconds: (seconds: number) => void;
  onStart: (restart: boolean) => void;
  onPause: () => void;

  /**
   * The names of the variants that were measured so far. Without one of them it
   * starts over: rounds of different variants are not mixed.
   */
  measured: readonly string[];
  trans: TranslationBundle;
}): JSX.Element {
  const { state, seconds, excluded, trans } = props;
  const { isOn, hasRounds, obstacle } = state;
  const goesOn = hasRounds && !props.measured.some(name => excluded.has(name));
  const reason = React.useId();
  const compiled = props.variants.filter(variant => variant.name !== BASELINE);
  const isNone = compiled.every(
    variant => excluded.has(variant.name) || whyNot(variant, trans)
  );
  return (
    <div
      className="jp-Compilescope-controls"
      role="toolbar"
      aria-label={trans.__('Measurement')}
    >
      <span className="jp-Compilescope-measureButtons">
        {isOn ? (
          <button
            type="button"
            className="jp-Compilescope-button"
            title={trans.__('Pause; measurements are kept')}
            onClick={props.onPause}
          >
            <pauseIcon.react tag="span" width="14px" height="14px" />
            {trans.__('Pause')}
          </button>
        ) : (
          <button
            type="button"
            className="jp-Compilescope-button jp-mod-accept"
            disabled={obstacle !== '' || isNone}
            aria-describedby={reason}
            title={
              goesOn
                ? trans.__('Add rounds to the measurement')
                : trans.__(
                    'Build missing variants, warm them up and time them, interleaved with eager'
                  )
            }
            onClick={() => props.onStart(false)}
          >
            <runIcon.react tag="span" width="14px" height="14px" />
            {goesOn ? trans.__('Resume') : trans.__('Start')}
          </button>
        )}
        <button
          type="button"
          className="jp-Compilescope-button"
          disabled={!hasRounds || isNone || (!isOn && obstacle !== '')}
          title={trans.__('Discard these rounds and start again')}
          onClick={() => props.onStart(true)}
        >
          <refreshIcon.react tag="span" width="14px" height="14px" />
          {trans.__('Restart')}
        </button>
      </span>
      <Select
        label={trans.__('for')}
        value={String(seconds)}
        options={SECONDS.map(option => ({
          value: String(option),
          label:
            option < 60
              ? trans.__('%1 s', option)
              : trans.__('%1 min', Math.round(option / 60))
        }))}
        onChange={value => props.onSeconds(Number(value))}
      />
      <fieldset className="jp-Compilescope-measureVariants">
        <legend className="jp-Compilescope-hidden">
          {trans.__('Variants to measure')}
        </legend>
        <Check
          label={BASELINE}
          isOn
          disabled
          title={trans.__('The baseline is in every round')}
          onChange={() => undefined}
        />
        {compiled.map(variant => {
          const why = whyNot(variant, trans);
          return (
            <Check
              key={variant.name}
              label={variant.name}
              isOn={!why && !excluded.has(variant.name)}
              disabled={why !== ''}
              title={why || undefined}
              onChange={on => props.onExclude(variant.name, !on)}
            />
          );
        })}
      </fieldset>
      <span id={reason} className="jp-Compilescope-measureReason">
        {isOn
          ? ''
          : obstacle ||
            (isNone
              ? whyAllFailed(props.variants, trans) ||
                trans.__('Select a variant to measure.')
              : '')}
      </span>
    </div>
  );
}

/**
 * The baseline of all ratios.
 */
export const BASELINE = 'eager';

/**
 * Why a variant cannot be measured; empty if it can.
 */
export function whyNot(
  { requested, stage }: VariantSummary,
  trans: TranslationBundle
): string {
  if (requested.target !== null) {
    return trans.__(
      'Its code targets %1, which is not available',
      requested.target
    );
  }
  return stage === 'failed' ? trans.__('It could not be built') : '';
}
