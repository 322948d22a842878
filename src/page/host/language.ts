/**
 * The language of the views' texts. JupyterLab's own module would bundle the
 * connection to its server, which a page does not have.
 */
export const DEFAULT_LANGUAGE_CODE = 'en';
