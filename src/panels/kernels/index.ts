export { KernelsView } from './view';
