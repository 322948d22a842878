import { Clipboard } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { checkIcon, copyIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { IconButton } from './button';

/**
 * Code to read and to copy.
 */
export function CodeBlock(props: {
  code: string;
  trans: TranslationBundle;

  /**
   * What a screen reader calls it.
   */
  label?: string;
}): JSX.Element {
  const { code, trans } = props;
  const [copied, setCopied] = React.useState(false);
  React.useEffect(() => {
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <div className="jp-Compilescope-snippet">
      <pre tabIndex={0} aria-label={props.label ?? trans.__('Code')}>
        {code}
      </pre>
      <IconButton
        icon={copied ? checkIcon : copyIcon}
        label={copied ? trans.__('Copied') : trans.__('Copy')}
        onClick={() => {
          Clipboard.copyToSystem(code);
          setCopied(true);
        }}
      />
    </div>
  );
}
