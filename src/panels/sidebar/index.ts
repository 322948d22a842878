export * from './body';
export * from './types';
export * from './widget';
