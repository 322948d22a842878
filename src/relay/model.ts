/**
 * Receives an event's arguments: for a message of the kernel, its content and its
 * buffers.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Callback = (...args: any[]) => void;

/**
 * The part of anywidget's model that is used.
 */
export interface IModel {
  get(name: 'page' | 'title'): string;
  get(name: 'height'): number;
  send(content: object): void;
  on(name: string, callback: Callback): void;
  off(name: string, callback: Callback): void;
}
