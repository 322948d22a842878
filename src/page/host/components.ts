export { ReactWidget } from '@jupyterlab/ui-components/lib/components/vdom';
export { LabIcon } from '@jupyterlab/ui-components/lib/icon/labicon';
export * from '@jupyterlab/ui-components/lib/icon/iconimports';
