/**
 * What the texts of the views are written in. JupyterLab's module of this brings the
 * connection to its server, which a page has none of.
 */
export const DEFAULT_LANGUAGE_CODE = 'en';
