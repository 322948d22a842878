import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { partsOf, pastable } from '../../words/prose';
import { CodeBlock } from '../common';

/**
 * A text that contains code: short code is part of the sentence, longer code
 * can be copied.
 */
export function Prose(props: {
  text: string;
  trans: TranslationBundle;

  /**
   * Whether it says what to do: then short code can be copied, too.
   */
  isRemedy?: boolean;
}): JSX.Element {
  const { text, trans, isRemedy } = props;
  return (
    <div className="jp-Compilescope-prose">
      {partsOf(text).map((part, index) =>
        part.isBlock ? (
          <CodeBlock key={index} code={part.text} trans={trans} />
        ) : part.isCode ? (
          <code key={index}>{part.text}</code>
        ) : (
          <React.Fragment key={index}>{part.text}</React.Fragment>
        )
      )}
      {isRemedy &&
        pastable(text).map((code, index) => (
          <CodeBlock key={index} code={code} trans={trans} />
        ))}
    </div>
  );
}
