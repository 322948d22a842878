import { setDark } from './look';

/**
 * Follows the reader's colour scheme, until the reader chooses.
 */
export class Theme {
  constructor() {
    this._dark.addEventListener('change', () => this._apply());
    this._apply();
  }

  get isDark(): boolean {
    return this._chosen ?? this._dark.matches;
  }

  toggle(): void {
    this._chosen = !this.isDark;
    this._apply();
  }

  private _apply(): void {
    setDark(this.isDark);
  }

  private _chosen: boolean | null = null;
  private _dark = window.matchMedia('(prefers-color-scheme: dark)');
}
