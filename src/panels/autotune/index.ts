export { AutotuneView } from './view';
