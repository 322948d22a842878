export { WrappersView } from './view';
