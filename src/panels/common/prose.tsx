import * as React from 'react';
import { partsOf } from '../../words/prose';

/**
 * Sentences of torch or of this package; code in them is displayed inline as
 * code. Everything is text, never markup.
 */
export function Prose(props: { text: string }): JSX.Element {
  return (
    <>
      {partsOf(props.text).map(({ text, isCode }, index) =>
        isCode ? <code key={index}>{text}</code> : text
      )}
    </>
  );
}
