import type { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

/**
 * An icon button with an accessible name.
 */
export function IconButton(props: {
  icon: LabIcon;
  label: string;
  onClick: () => void;
  disabled?: boolean;
}): JSX.Element {
  return (
    <button
      type="button"
      className="jp-Compilescope-iconButton"
      title={props.label}
      aria-label={props.label}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      <props.icon.react tag="span" width="14px" height="14px" />
    </button>
  );
}
