import * as React from 'react';
import { Lasting } from '../../common/states/lasting';
import { ChangeSummary } from './changed';
import { CodeReadyNote } from './ready';
import type { IPartProps } from '../types';
import { Section } from '../section';
import { TargetSwitch } from './target';

/**
 * The name of the variant that is not compiled.
 */
const EAGER = 'eager';

/**
 * torch.compile's switches as one form; a flip requests the sources
 * immediately.
 */
export function Switches(props: IPartProps): JSX.Element {
  const { state, actions, trans } = props;
  const { choices, requested } = state;
  const isEager = requested.backend === null;
  const isOff = isEager || requested.backend !== 'inductor';
  const off = isEager
    ? trans.__('Nothing is compiled in eager')
    : trans.__('A setting of the inductor backend');
  return (
    <Section
      name="switches"
      title={trans.__('Switches')}
      actions={
        state.pending && (
          <Lasting>
            <span className="jp-Compilescope-pending" role="status">
              <span className="jp-Compilescope-spinner" aria-hidden="true" />
              {trans.__('Generating code…')}
            </span>
          </Lasting>
        )
      }
    >
      <fieldset
        className="jp-Compilescope-switches"
        disabled={state.status.kind !== 'ready' && state.status.kind !== 'busy'}
        aria-label={trans.__('Switches of torch.compile')}
      >
        <Toggle
          name="cpp_wrapper"
          title={
            isOff
              ? off
              : trans.__('Launch the kernels from C++ instead of Python')
          }
          isOn={requested.cpp_wrapper}
          isDisabled={isOff}
          onChange={cpp_wrapper => actions.setRequested({ cpp_wrapper })}
        />
        <CodeReadyNote {...props} />
        <ChangeSummary {...props} at="cpp_wrapper" />
        <Select
          name="mode"
          title={isOff ? off : trans.__('What Inductor optimizes for')}
          value={requested.mode ?? 'default'}
          values={choices.modes}
          isDisabled={isOff}
          onChange={mode =>
            actions.setRequested({ mode: mode === 'default' ? null : mode })
          }
        />
        <ChangeSummary {...props} at="mode" />
        <Segments
          name="dynamic"
          title={trans.__(
            'Dynamic shapes: auto (once a size changes), on or off'
          )}
          value={requested.dynamic}
          values={[
            [null, trans.__('auto')],
            [true, trans.__('on')],
            [false, trans.__('off')]
          ]}
          isDisabled={isEager}
          onChange={dynamic => actions.setRequested({ dynamic })}
        />
        <ChangeSummary {...props} at="dynamic" />
        <Toggle
          name="fullgraph"
          title={trans.__('Make a graph break an error')}
          isOn={requested.fullgraph}
          isDisabled={isEager}
          onChange={fullgraph => actions.setRequested({ fullgraph })}
        />
        <ChangeSummary {...props} at="fullgraph" />
        <Select
          name="backend"
          title={trans.__('What compiles the graphs')}
          value={requested.backend ?? ''}
          values={choices.backends}
          onChange={backend => actions.setRequested({ backend })}
        />
        <ChangeSummary {...props} at="backend" />
        <TargetSwitch
          choices={choices}
          value={requested.target}
          isOff={isOff ? off : ''}
          onChange={target => actions.setRequested({ target })}
          trans={trans}
        />
        <ChangeSummary {...props} at="target" />
        <ChangeSummary {...props} at={null} />
      </fieldset>
    </Section>
  );
}

interface IControl<T> {
  name: string;
  title: string;
  isDisabled?: boolean;
  onChange: (value: T) => void;
}

function Toggle(props: IControl<boolean> & { isOn: boolean }): JSX.Element {
  return (
    <label className="jp-Compilescope-field" title={props.title}>
      <span>{props.name}</span>
      <input
        type="checkbox"
        role="switch"
        className="jp-Compilescope-toggle"
        name={props.name}
        checked={props.isOn}
        disabled={props.isDisabled}
        aria-checked={props.isOn}
        onChange={event => props.onChange(event.target.checked)}
      />
    </label>
  );
}

function Select(
  props: IControl<string> & {
    value: string;
    values: readonly string[];
    empty?: string;
  }
): JSX.Element {
  const { value, values } = props;
  // The current value is always shown, even if torch does not list it.
  const listed =
    values.includes(value) || value === '' ? values : [value, ...values];
  return (
    <label className="jp-Compilescope-field" title={props.title}>
      <span>{props.name}</span>
      <select
        name={props.name}
        value={value}
        disabled={props.isDisabled}
        onChange={event => props.onChange(event.target.value)}
      >
        {(props.empty !== undefined || value === '') && (
          <option value="">{props.empty ?? EAGER}</option>
        )}
        {listed.map(option => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  );
}

function Segments<T>(
  props: IControl<T> & { value: T; values: readonly (readonly [T, string])[] }
): JSX.Element {
  const group = React.useId();
  return (
    <div className="jp-Compilescope-field" title={props.title}>
      <span id={group}>{props.name}</span>
      <div
        className="jp-Compilescope-segments"
        role="radiogroup"
        aria-labelledby={group}
      >
        {props.values.map(([value, label]) => (
          <label key={label}>
            <input
              type="radio"
              name={group}
              checked={value === props.value}
              disabled={props.isDisabled}
              onChange={() => props.onChange(value)}
            />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </div>
  );
}
