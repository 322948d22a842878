import * as React from 'react';

/**
 * A titled part of the sidebar.
 */
export function Section(props: {
  name: string;
  title: string;
  count?: number;
  actions?: React.ReactNode;
  children: React.ReactNode;
}): JSX.Element {
  const id = React.useId();
  return (
    <section
      className={`jp-Compilescope-section jp-mod-${props.name}`}
      aria-labelledby={id}
    >
      <header className="jp-Compilescope-sectionHeader">
        <h3 id={id}>{props.title}</h3>
        {props.count !== undefined && props.count > 0 && (
          <span className="jp-Compilescope-count">{props.count}</span>
        )}
        {props.actions && (
          <div className="jp-Compilescope-sectionActions">{props.actions}</div>
        )}
      </header>
      {props.children}
    </section>
  );
}
