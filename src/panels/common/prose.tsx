import * as React from 'react';
import { partsOf } from '../../words/prose';

/**
 * Sentences of torch's or of this package's: the code in them is shown as code, in
 * the line. All of it is text, never markup.
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
