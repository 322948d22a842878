export { RanksView } from './view';
