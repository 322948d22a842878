export { SweepView } from './view';
