export { ChangesView } from './view';
