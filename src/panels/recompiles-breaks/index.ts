export { RecompilesAndBreaksView } from './view';
