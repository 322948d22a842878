/**
 * The name in `x: float32[4, 8] cpu`, empty where there is none.
 */
export function nameOf(argument: string): string {
  return /^([A-Za-z_]\w*)(?=\s*:)/.exec(argument)?.[1] ?? '';
}
