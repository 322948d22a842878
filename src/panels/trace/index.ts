export { TraceView } from './view';
