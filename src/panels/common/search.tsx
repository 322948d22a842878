import { searchIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

/**
 * A text field that filters. Escape clears it.
 */
export function SearchField(props: {
  label: string;

  /**
   * A shorter label, for when space is limited.
   */
  short?: string;
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <label
      className="jp-Compilescope-search"
      title={props.short && props.label}
    >
      <searchIcon.react tag="span" width="14px" height="14px" />
      <input
        type="search"
        value={props.value}
        placeholder={props.short ?? props.label}
        aria-label={props.label}
        spellCheck={false}
        onChange={event => props.onChange(event.currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Escape' && props.value) {
            event.preventDefault();
            event.stopPropagation();
            props.onChange('');
          }
        }}
      />
    </label>
  );
}

/**
 * A choice of one of a few values.
 */
export function Select(props: {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
  disabled?: boolean;
}): JSX.Element {
  return (
    <label className="jp-Compilescope-pick">
      <span>{props.label}</span>
      <select
        value={props.value}
        disabled={props.disabled}
        onChange={event => props.onChange(event.currentTarget.value)}
      >
        {props.options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

/**
 * A checkbox.
 */
export function Check(props: {
  label: string;
  isOn: boolean;
  onChange: (on: boolean) => void;
  disabled?: boolean;
  title?: string;
}): JSX.Element {
  return (
    <label className="jp-Compilescope-check" title={props.title}>
      <input
        type="checkbox"
        checked={props.isOn}
        disabled={props.disabled}
        onChange={event => props.onChange(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}
