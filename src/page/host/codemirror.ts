export {
  jupyterHighlightStyle,
  jupyterTheme
} from '@jupyterlab/codemirror/lib/theme';
