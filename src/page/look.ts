/**
 * Have the page look light or dark.
 */
export function setDark(isDark: boolean): void {
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  // What JupyterLab's own styles ask for.
  document.body.dataset.jpThemeLight = String(!isDark);
}
