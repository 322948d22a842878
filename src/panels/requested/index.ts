export { RequestedView } from './view';
