import { codePlugin } from './plugins/code';
import { notebookPlugin } from './plugins/notebook';
import { servicePlugin } from './plugins/service';
import { sidebarPlugin } from './plugins/sidebar';

export * from './tokens';

export default [servicePlugin, sidebarPlugin, codePlugin, notebookPlugin];
