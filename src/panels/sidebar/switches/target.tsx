import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Choices } from '../../../protocol/types';

/**
 * Like torch.compile's own switches, by its name in Python.
 */
const NAME = 'target';

/**
 * The device to generate code for: that of the arguments, or one that is not
 * available, grouped by vendor. Without any choice it says why.
 */
export function TargetSwitch(props: {
  choices: Choices;
  value: string | null;

  /**
   * Why the switch cannot be combined with the other settings; empty if it can.
   */
  isOff: string;
  onChange: (target: string | null) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { choices, value, isOff, onChange, trans } = props;
  const note = React.useId();
  const isNone = choices.targets.length === 0;
  const hint = isNone
    ? choices.targets_off || trans.__('No other target devices to choose from.')
    : value !== null
      ? trans.__(
          'Nothing runs on it: its code is generated, its times are estimated.'
        )
      : '';
  return (
    <>
      <label
        className="jp-Compilescope-field"
        title={isOff || trans.__('The device to generate code for')}
      >
        <span>{NAME}</span>
        <select
          name={NAME}
          value={value ?? ''}
          disabled={isOff !== '' || (isNone && value === null)}
          aria-describedby={hint ? note : undefined}
          onChange={event => onChange(event.target.value || null)}
        >
          <option value="">{trans.__('the arguments’ device')}</option>
          {groupsOf(choices, value).map(([group, targets]) => {
            const options = targets.map(target => (
              <option key={target} value={target}>
                {choices.titles[target] ?? target}
              </option>
            ));
            return group ? (
              <optgroup key={group} label={group}>
                {options}
              </optgroup>
            ) : (
              options
            );
          })}
        </select>
      </label>
      {hint && (
        <p id={note} className="jp-Compilescope-hint jp-mod-target">
          {hint}
        </p>
      )}
    </>
  );
}

/**
 * The targets under their headings, in the kernel's order. The current value is
 * always among them, even if the kernel does not list it.
 */
function groupsOf(
  { targets, groups }: Choices,
  value: string | null
): [string, string[]][] {
  const listed =
    value === null || targets.includes(value) ? targets : [value, ...targets];
  const byGroup = new Map<string, string[]>();
  for (const target of listed) {
    const group = groups[target] ?? '';
    byGroup.set(group, [...(byGroup.get(group) ?? []), target]);
  }
  return [...byGroup];
}
