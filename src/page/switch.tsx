import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { Theme } from './theme';

/**
 * The switch between light and dark.
 */
export class ThemeSwitch extends ReactWidget {
  constructor(
    private _theme: Theme,
    private _trans: TranslationBundle
  ) {
    super();
  }

  protected override render(): JSX.Element {
    return (
      <button
        type="button"
        className="jp-Compilescope-button"
        aria-pressed={this._theme.isDark}
        onClick={() => {
          this._theme.toggle();
          this.update();
        }}
      >
        {this._trans.__('Dark')}
      </button>
    );
  }
}
