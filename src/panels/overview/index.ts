export { OverviewView } from './view';
