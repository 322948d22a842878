import { Clipboard } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { checkIcon, copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IconButton } from './button';

/**
 * How long a button shows that it copied.
 */
const COPIED_MS = 1500;

/**
 * Copies a text, and confirms it for a moment.
 */
function useCopy(text: string): [isCopied: boolean, copy: () => void] {
  const [isCopied, setCopied] = React.useState(false);
  React.useEffect(() => {
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    Clipboard.copyToSystem(text);
    setCopied(true);
  };
  return [isCopied, copy];
}

/**
 * Code to read and to copy.
 */
export function CodeBlock(props: {
  code: string;
  trans: TranslationBundle;

  /**
   * The accessible name.
   */
  label?: string;
}): JSX.Element {
  const { code, trans } = props;
  const [isCopied, copy] = useCopy(code);
  return (
    <div className="jp-Compilescope-snippet">
      <pre tabIndex={0} aria-label={props.label ?? trans.__('Code')}>
        {code}
      </pre>
      <IconButton
        icon={isCopied ? checkIcon : copyIcon}
        label={isCopied ? trans.__('Copied') : trans.__('Copy')}
        onClick={copy}
      />
    </div>
  );
}

/**
 * Copies code that is shown only in the tooltip.
 */
export function CopyCode(props: {
  code: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { code, trans } = props;
  const [isCopied, copy] = useCopy(code);
  return (
    <button
      type="button"
      className="jp-Compilescope-link"
      title={code}
      onClick={copy}
    >
      {isCopied ? trans.__('Copied') : trans.__('Copy code')}
    </button>
  );
}
