export { CodePanel } from './panel';
