/**
 * Whether a key is of a line of a kernel, which the code view alone knows of: not of a launch or a
 * buffer.
 */
export function isLineKey(key: string): boolean {
  return key.startsWith('line:');
}
