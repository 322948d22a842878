import * as React from 'react';

/**
 * An item of a list of facts: a name and its value.
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
