/**
 * Whether the notebook around an element is dark.
 *
 * The themes that known hosts declare take precedence: in some, the output's
 * background is transparent.
 */
export function isDark(element: Element): boolean {
  const { body, documentElement: root } = element.ownerDocument;
  // JupyterLab, Notebook.
  const isLight = body.dataset.jpThemeLight;
  if (isLight !== undefined) {
    return isLight === 'false';
  }
  // VS Code: "vscode-high-contrast" is the dark one of two.
  const kind = body.dataset.vscodeThemeKind;
  if (kind) {
    return !kind.endsWith('light');
  }
  // Colab, marimo.
  const named = [root.getAttribute('theme'), body.dataset.theme];
  const classes = [...root.classList, ...body.classList];
  if (named.includes('dark') || classes.includes('dark')) {
    return true;
  }
  if (named.includes('light') || classes.includes('light')) {
    return false;
  }
  return (
    isBackgroundDark(element) ??
    window.matchMedia('(prefers-color-scheme: dark)').matches
  );
}

/**
 * Call back whenever a notebook may have changed its theme.
 *
 * @returns What ends that.
 */
export function watchTheme(callback: () => void): () => void {
  const { body, documentElement } = document;
  const observer = new MutationObserver(callback);
  observer.observe(documentElement, { attributes: true });
  observer.observe(body, { attributes: true });
  const scheme = window.matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', callback);
  return () => {
    observer.disconnect();
    scheme.removeEventListener('change', callback);
  };
}

/**
 * Whether the background that is seen behind an element is dark; null where
 * there is none.
 */
function isBackgroundDark(element: Element): boolean | null {
  for (
    let ancestor: Element | null = element;
    ancestor !== null;
    ancestor = ancestor.parentElement
  ) {
    const color = getComputedStyle(ancestor).backgroundColor;
    const [red, green, blue, alpha = 1] = (color.match(/[\d.]+/g) ?? []).map(
      Number
    );
    if (blue !== undefined && alpha > 0.5) {
      return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
    }
  }
  return null;
}
