export { TimingsView } from './view';
