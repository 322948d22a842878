import * as React from 'react';
import type { IFigures } from '../phrases';

/**
 * The maximum width of a tooltip, in pixels; the style sheet has the same
 * value.
 */
const WIDTH = 320;
const TIP_OFFSET = 14;

/**
 * The figures of the span under the pointer.
 */
export function Tip(props: {
  figures: IFigures;

  /**
   * The position of the pointer in the chart, and the width of the chart, in
   * pixels.
   */
  x: number;
  y: number;
  width: number;
}): JSX.Element {
  const { figures, x, y, width } = props;
  const left =
    x + TIP_OFFSET + WIDTH <= width
      ? x + TIP_OFFSET
      : Math.max(0, x - TIP_OFFSET - WIDTH);
  return (
    <div
      className="jp-Compilescope-timeTip"
      aria-hidden="true"
      style={{ left, top: y + TIP_OFFSET, maxWidth: Math.min(WIDTH, width) }}
    >
      <Figures figures={figures} />
    </div>
  );
}

/**
 * A span's name and its figures.
 */
export function Figures({ figures }: { figures: IFigures }): JSX.Element {
  return (
    <>
      <p className="jp-Compilescope-timeName">
        <strong>{figures.name}</strong> <span>{figures.kind}</span>
      </p>
      {figures.detail && <code>{figures.detail}</code>}
      <dl>
        {figures.lines.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
