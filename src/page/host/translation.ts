export { nullTranslator } from '@jupyterlab/translation/lib/base';
