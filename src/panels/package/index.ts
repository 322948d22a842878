export { PackageView } from './view';
