import React from 'react';
import { FIRST_CALL_PARTS } from '../../protocol/types';
import { formatSeconds } from '../../words/format';

/**
 * The parts of a first call as a bar.
 *
 * @param props.longest - The time that fills the width.
 */
export function FirstBar(props: {
  parts: Readonly<Record<string, number>>;
  longest: number;
}): JSX.Element {
  const { parts, longest } = props;
  return (
    <span className="jp-Compilescope-firstBar" aria-hidden="true">
      {Object.keys(FIRST_CALL_PARTS)
        .filter(part => (parts[part] ?? 0) > 0)
        .map(part => (
          <span
            key={part}
            className={partClass(part)}
            style={{
              width: `${longest > 0 ? (parts[part] / longest) * 100 : 0}%`
            }}
            title={`${FIRST_CALL_PARTS[part]}: ${formatSeconds(parts[part])}`}
          />
        ))}
    </span>
  );
}

/**
 * The parts of a first call → the colors of the Compile time view, in
 * chronological order.
 */
const COLORS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.keys(FIRST_CALL_PARTS).map(part => [part, part])
  ),
  inductor: 'lowering'
};

export function partClass(part: string): string {
  return `jp-Compilescope-kind jp-mod-${COLORS[part]}`;
}
