import {
  caretDownIcon,
  caretRightIcon,
  runIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { formatRoughly } from '../../words/format';
import { Check, Select } from '../common';
import type { IRunOn } from '../common/runOn';
import { RunOn } from '../common/runOn';
import type { IForm, IPlan } from './plan';
import { modesOf } from './plan';
import { Shapes } from './shapes';

/**
 * A switch's name, and its values as code.
 */
const OPTIONS = 'options';
const EXAMPLE = 'max_fusion_size=8, epilogue_fusion=False';

const SECONDS = [1, 2, 5, 10, 30];

/**
 * The choices for the time limit of a cell, in minutes.
 */
const TIMEOUTS = [1, 2, 5, 10, 30];

/**
 * With more cells, or more seconds of them, a sweep takes longer than users
 * usually wait.
 */
const MANY_CELLS = 24;
const LONG_SWEEP_S = 900;

/**
 * What to sweep: start, cancel, the limits of a cell, and the switches.
 */
export function SweepForm(props: {
  form: IForm;
  onChange: (form: IForm) => void;
  runOn: IRunOn;
  plan: IPlan;

  /**
   * The estimated time of all cells, in seconds.
   */
  duration: number;
  modes: readonly string[];

  /**
   * The subject's name, the names of its arguments, and its call as text.
   */
  name: string;
  parameters: readonly string[];
  call: readonly string[];

  /**
   * Why nothing can be started; empty if it can.
   */
  obstacle: string;
  isOn: boolean;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
  onStart: () => void;
  onCancel: () => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { form, plan, duration, isOn, isOpen, trans } = props;
  const id = React.useId();
  const set = (change: Partial<IForm>) =>
    props.onChange({ ...form, ...change });
  const why = props.obstacle || plan.obstacle;
  const isLong = plan.cells > MANY_CELLS || duration > LONG_SWEEP_S;
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  return (
    <>
      <div
        className="jp-Compilescope-controls"
        role="toolbar"
        aria-label={trans.__('Compare')}
      >
        <span className="jp-Compilescope-measureButtons">
          {isOn ? (
            <button
              type="button"
              className="jp-Compilescope-button"
              title={trans.__('Stop the sweep; finished cells stay')}
              onClick={props.onCancel}
            >
              <stopIcon.react tag="span" width="14px" height="14px" />
              {trans.__('Cancel')}
            </button>
          ) : (
            <button
              type="button"
              className="jp-Compilescope-button jp-mod-accept"
              disabled={why !== ''}
              aria-describedby={`${id}-why`}
              title={trans.__('Compile and time each cell in its own process')}
              onClick={props.onStart}
            >
              <runIcon.react tag="span" width="14px" height="14px" />
              {trans.__('Start')}
            </button>
          )}
          <button
            type="button"
            className="jp-Compilescope-button"
            aria-expanded={isOpen}
            aria-controls={`${id}-form`}
            onClick={() => props.onOpen(!isOpen)}
          >
            <Caret.react tag="span" width="14px" height="14px" />
            {trans.__('Set up')}
          </button>
        </span>
        <Select
          label={trans.__('measure a cell for')}
          value={String(form.seconds)}
          options={SECONDS.map(seconds => ({
            value: String(seconds),
            label: trans.__('%1 s', seconds)
          }))}
          onChange={value => set({ seconds: Number(value) })}
        />
        <Select
          label={trans.__('time limit')}
          value={String(form.timeout)}
          options={TIMEOUTS.map(minutes => ({
            value: String(minutes * 60),
            label: trans.__('%1 min', minutes)
          }))}
          onChange={value => set({ timeout: Number(value) })}
        />
        <RunOn runOn={props.runOn} trans={trans} />
        <Check
          label={trans.__('reuse finished cells')}
          isOn={form.resume}
          title={trans.__(
            'Reuse the finished cells of an earlier sweep instead of measuring them again'
          )}
          onChange={resume => set({ resume })}
        />
        <span
          id={`${id}-why`}
          className={
            'jp-Compilescope-measureReason' +
            (isLong && !why && !isOn ? ' jp-mod-warning' : '')
          }
          role="status"
        >
          {isOn
            ? ''
            : why ||
              [
                trans._n('%1 cell', '%1 cells', plan.cells),
                plan.product && ` (${plan.product})`,
                `, ${formatRoughly(duration, trans)}`,
                isLong &&
                  `. ${trans.__('Too many cells: select fewer values.')}`
              ]
                .filter(Boolean)
                .join('')}
        </span>
      </div>
      <div id={`${id}-form`} hidden={!isOpen}>
        <div className="jp-Compilescope-sweepForm">
          <Values
            name="mode"
            values={modesOf(props.modes).map(mode => ({
              value: mode,
              label: mode
            }))}
            chosen={form.modes}
            onChange={modes => set({ modes })}
          />
          <Values
            name="cpp_wrapper"
            values={[
              { value: false, label: trans.__('off') },
              { value: true, label: trans.__('on') }
            ]}
            chosen={form.wrappers}
            onChange={wrappers => set({ wrappers })}
          />
          <Values
            name="dynamic"
            values={[
              { value: null, label: trans.__('auto') },
              { value: true, label: trans.__('on') },
              { value: false, label: trans.__('off') }
            ]}
            chosen={form.dynamics}
            onChange={dynamics => set({ dynamics })}
          />
          <label htmlFor={`${id}-options`}>
            <code>{OPTIONS}</code>
          </label>
          <div>
            <textarea
              id={`${id}-options`}
              rows={Math.min(6, form.options.split('\n').length)}
              value={form.options}
              placeholder={EXAMPLE}
              aria-describedby={`${id}-optionsHint`}
              spellCheck={false}
              onChange={event => set({ options: event.currentTarget.value })}
            />
            <p id={`${id}-optionsHint`} className="jp-Compilescope-muted">
              {trans.__(
                'Inductor settings, one set per line. Each is compared with cells without any.'
              )}
            </p>
          </div>
          <span>{trans.__('shapes')}</span>
          <Shapes
            name={props.name}
            parameters={props.parameters}
            call={props.call}
            shapes={form.shapes}
            onChange={shapes => set({ shapes })}
            trans={trans}
          />
        </div>
      </div>
    </>
  );
}

/**
 * The values of a switch to sweep.
 */
function Values<T>(props: {
  name: string;
  values: readonly { value: T; label: string }[];
  chosen: readonly T[];
  onChange: (chosen: readonly T[]) => void;
}): JSX.Element {
  const { name, values, chosen, onChange } = props;
  return (
    <>
      <code aria-hidden="true">{name}</code>
      <fieldset>
        <legend className="jp-Compilescope-hidden">{name}</legend>
        {values.map(option => (
          <Check
            key={option.label}
            label={option.label}
            isOn={chosen.includes(option.value)}
            onChange={on =>
              // In display order, regardless of the order of the clicks.
              onChange(
                values
                  .map(({ value }) => value)
                  .filter(value =>
                    value === option.value ? on : chosen.includes(value)
                  )
              )
            }
          />
        ))}
      </fieldset>
    </>
  );
}
