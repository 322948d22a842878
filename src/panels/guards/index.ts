export { GuardsView } from './view';
