import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { Theme } from './theme';

/**
 * The switch between light and dark.
 */
export class ThemeSwitch extends ReactWidget {
  constructor(private _trans: TranslationBundle) {
    super();
  }

  protected override render(): JSX.Element {
    return (
      <button
        type="button"
        className="jp-Compilescope-button"
        title={
          this._theme.isDark
            ? this._trans.__('Switch to the light theme')
            : this._trans.__('Switch to the dark theme')
        }
        onClick={() => this._theme.toggle()}
      >
        {this._theme.isDark ? this._trans.__('Light') : this._trans.__('Dark')}
      </button>
    );
  }

  private _theme = new Theme(() => this.update());
}
