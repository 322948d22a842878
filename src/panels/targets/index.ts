export { TargetsView } from './view';
