import { viewsPlugin } from './plugins/views';
import { notebookPlugin } from './plugins/notebook';
import { reportPlugin } from './plugins/report';
import { servicePlugin } from './plugins/service';
import { sidebarPlugin } from './plugins/sidebar';
import { tracePlugin } from './plugins/trace';

export * from './interfaces/selection';
export * from './interfaces/status';
export * from './interfaces/subject';
export * from './tokens';

export default [
  servicePlugin,
  sidebarPlugin,
  viewsPlugin,
  notebookPlugin,
  reportPlugin,
  tracePlugin
];
