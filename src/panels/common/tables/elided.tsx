import * as React from 'react';

/**
 * A name that is cut in its middle where there is no room for it: names of
 * kernels and of files differ at their ends.
 *
 * @param props.tail - How many characters at the end always stay.
 * @param props.title - What hovering shows, the whole name by default.
 */
export function Elided(props: {
  text: string;
  tail?: number;
  title?: string;
}): JSX.Element {
  const { text, tail = 10, title = text } = props;
  const head = Math.max(0, text.length - tail);
  return (
    // Parts that are laid out apart would be read with a space between them.
    <span className="jp-Compilescope-elided" title={title} aria-label={text}>
      <span>{text.slice(0, head)}</span>
      <span>{text.slice(head)}</span>
    </span>
  );
}
