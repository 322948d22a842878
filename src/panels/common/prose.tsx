import * as React from 'react';

/**
 * torch's own words: what it puts between backticks is shown as code. All of it
 * is text, never markup.
 */
export function Prose(props: { text: string }): JSX.Element {
  const parts = props.text.split(/`([^`\n]+)`/);
  return (
    <>
      {parts.map((part, index) =>
        index % 2 === 1 ? <code key={index}>{part}</code> : part
      )}
    </>
  );
}
