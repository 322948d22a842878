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
    const { isDark } = this;
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
    // What JupyterLab's own styles ask for.
    document.body.dataset.jpThemeLight = String(!isDark);
  }

  private _chosen: boolean | null = null;
  private _dark = window.matchMedia('(prefers-color-scheme: dark)');
}
