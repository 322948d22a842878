export { FileConnection } from './connection';
export { unpackReport } from './packed';
export { readReport } from './read';
