import * as React from 'react';

/**
 * How long something has to last before it is worth saying, in milliseconds.
 */
export const WORTH_SAYING_MS = 200;

/**
 * Says what is going on once it has lasted for a moment: what is over sooner, such as
 * a flip whose code is ready, would only flicker.
 *
 * @param props.since - When it began (`Date.now()`); when this was first shown, unless
 * it is given.
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
