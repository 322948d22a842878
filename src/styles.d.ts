// Styles are imported only for the bundler.
declare module '*.css';
