export { CompileTimeView } from './view';
