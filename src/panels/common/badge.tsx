import * as React from 'react';

/**
 * The color of a badge; its text carries the meaning.
 */
export type BadgeKind = 'plain' | 'good' | 'warning' | 'error' | 'info';

/**
 * A word or two about an item.
 */
export function Badge(props: {
  kind?: BadgeKind;
  title?: string;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <span
      className={`jp-Compilescope-badge jp-mod-${props.kind ?? 'plain'}`}
      title={props.title}
    >
      {props.children}
    </span>
  );
}

/**
 * A bar for a share; the number itself is next to it.
 *
 * @param share - Between 0 and 1.
 */
export function Bar(props: { share: number }): JSX.Element {
  const percent = Math.max(0, Math.min(1, props.share)) * 100;
  return (
    <span className="jp-Compilescope-bar" aria-hidden="true">
      <span style={{ width: `${percent.toFixed(1)}%` }} />
    </span>
  );
}

/**
 * The used share of a limit.
 */
export function Meter(props: {
  value: number;
  max: number;
  label: string;
}): JSX.Element {
  const { value, max, label } = props;
  const share = max > 0 ? Math.min(1, value / max) : 1;
  const state = share >= 1 ? 'full' : share >= 0.75 ? 'near' : 'far';
  return (
    <span
      className={`jp-Compilescope-meter jp-mod-${state}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      title={label}
    >
      <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
    </span>
  );
}
