export { ReactWidget } from '@jupyterlab/ui-components/lib/components/vdom';

/**
 * The part of JupyterLab's clipboard that the views use. JupyterLab's own
 * brings its dialogs along.
 */
export const Clipboard = {
  copyToSystem(text: string): void {
    // Refused without the user's gesture; a click on "copy" is one.
    void navigator.clipboard?.writeText(text);
  }
};
