import type { ToPanel } from '../protocol/portMessages';
import { setDark } from './setTheme';
import { whenConnected } from './port';

/**
 * Follows the theme of the notebook that contains the page, or the reader's color
 * scheme, until the reader chooses one.
 */
export class Theme {
  /**
   * @param _changed - Called when the theme may have changed.
   */
  constructor(private _changed: () => void) {
    this._dark.addEventListener('change', () => this._apply());
    whenConnected((port, appearance) => {
      this._follow(appearance.isDark);
      port.onmessage = ({ data }: MessageEvent) => {
        const message = data as ToPanel;
        if (message.kind === 'appearance') {
          this._follow(message.appearance.isDark);
        }
      };
    });
    setDark(this.isDark);
  }

  get isDark(): boolean {
    return this._chosen ?? this._around ?? this._dark.matches;
  }

  toggle(): void {
    this._chosen = !this.isDark;
    this._apply();
  }

  private _follow(isDark: boolean): void {
    this._around = isDark;
    this._apply();
  }

  private _apply(): void {
    setDark(this.isDark);
    this._changed();
  }

  private _around: boolean | null = null;
  private _chosen: boolean | null = null;
  private _dark = window.matchMedia('(prefers-color-scheme: dark)');
}
