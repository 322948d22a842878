/**
 * Takes what an event brings: of a message of the kernel's, its content and its
 * buffers.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Callback = (...args: any[]) => void;

/**
 * What is used of the model that anywidget gives.
 */
export interface IModel {
  get(name: 'page' | 'title'): string;
  get(name: 'height'): number;
  send(content: object): void;
  on(name: string, callback: Callback): void;
  off(name: string, callback: Callback): void;
}
