/**
 * Set the page's theme to light or dark.
 */
export function setDark(isDark: boolean): void {
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  // JupyterLab's own styles read this.
  document.body.dataset.jpThemeLight = String(!isDark);
}
