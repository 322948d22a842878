/**
 * Whether a key is that of a line of a kernel, not of a launch or a buffer.
 * Only the Code view uses keys of lines.
 */
export function isLineKey(key: string): boolean {
  return key.startsWith('line:');
}
