export { FileConnection } from './connection';
export { readReport } from './read';
