export { GraphView } from './view';
