import * as React from 'react';

/**
 * How long something must last before it is shown, in milliseconds.
 */
export const WORTH_SAYING_MS = 200;

/**
 * Shows an activity once it has lasted for a moment: shorter ones, such as a
 * flip whose code is ready, would only flicker.
 *
 * @param props.since - When it began (`Date.now()`); by default, when this was
 * first shown.
 */
export function Lasting(props: {
  since?: number;
  children: React.ReactNode;
}): JSX.Element | null {
  const [left] = React.useState(() => {
    const now = Date.now();
    return WORTH_SAYING_MS - (now - (props.since ?? now));
  });
  const [isShown, setShown] = React.useState(left <= 0);
  React.useEffect(() => {
    const timer = window.setTimeout(() => setShown(true), left);
    return () => clearTimeout(timer);
  }, [left]);
  return isShown ? <>{props.children}</> : null;
}
