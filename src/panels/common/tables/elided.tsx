import * as React from 'react';

/**
 * A name that is shortened in the middle to fit: names of kernels and of files
 * differ at their ends.
 *
 * @param props.tail - The number of characters at the end that are always kept.
 * @param props.title - The tooltip, by default the whole name.
 */
export function Elided(props: {
  text: string;
  tail?: number;
  title?: string;
}): JSX.Element {
  const { text, tail = 10, title = text } = props;
  const head = Math.max(0, text.length - tail);
  return (
    // With separate layout, the parts would be read with a space between them.
    <span className="jp-Compilescope-elided" title={title} aria-label={text}>
      {head > 0 && <span>{text.slice(0, head)}</span>}
      <span>{text.slice(head)}</span>
    </span>
  );
}
