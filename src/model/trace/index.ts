export { TraceConnection } from './connection';
export type { ITraceAnswer } from './connection';
export { readShown } from './readShown';
