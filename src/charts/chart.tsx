import * as React from 'react';
import type { MakeFigure } from './plot';
import { Plot } from './plot';

/**
 * A plot as a labeled image. Its data is also in a table next to it, as a plot is
 * not accessible from the keyboard or to a screen reader.
 */
export function Chart(props: {
  /**
   * Creates the figure. A different function means a different figure.
   */
  make: MakeFigure;

  /**
   * The label for screen readers.
   */
  label: string;

  /**
   * In pixels; it is as wide as there is room.
   */
  height: number;

  /**
   * Whether its figures come from a measurement that runs.
   */
  isLive?: boolean;

  /**
   * Called with the `customdata` of a point that is clicked.
   */
  onClick?: (data: string | number) => void;
}): JSX.Element {
  const { make, label, height, isLive, onClick } = props;
  const host = React.useRef<HTMLDivElement>(null);
  const plot = React.useRef<Plot | null>(null);
  const click = React.useRef(onClick);
  click.current = onClick;
  const [error, setError] = React.useState('');
  React.useEffect(() => {
    const created = new Plot(host.current!, {
      isLive,
      onClick: data => click.current?.(data),
      onDrawn: () => setError(''),
      onError: reason =>
        setError(reason instanceof Error ? reason.message : String(reason))
    });
    plot.current = created;
    return () => created.dispose();
  }, []);
  React.useEffect(() => plot.current?.show(make), [make]);
  return (
    <>
      <div
        ref={host}
        className="jp-Compilescope-chart"
        role="img"
        aria-label={label}
        style={{ height }}
      />
      {error && (
        <p className="jp-Compilescope-hint" role="alert">
          {error}
        </p>
      )}
    </>
  );
}
