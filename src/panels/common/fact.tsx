import * as React from 'react';

/**
 * A fact of a list of them: what it is, and its value.
 */
export function Fact(props: {
  label: string;
  title?: string;
  children: React.ReactNode;
}): JSX.Element {
  return (
    <div title={props.title}>
      <dt>{props.label}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}
