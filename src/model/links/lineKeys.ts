/**
 * Whether a key is of a line of a kernel, which only the code view uses, not of a launch or a
 * buffer.
 */
export function isLineKey(key: string): boolean {
  return key.startsWith('line:');
}
