export { MemoryView } from './view';
