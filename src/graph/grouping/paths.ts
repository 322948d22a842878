/**
 * The parts of a module's path that become groups. A number stays with what it
 * counts: `transformer.h.0.attn` is `transformer`, `h.0`, `attn`.
 */
export function splitModule(module: string): string[] {
  const parts: string[] = [];
  let isList = false;
  for (const part of module.split('.')) {
    const isNumber = /^\d+$/.test(part);
    if (isNumber && parts.length > 0 && !isList) {
      parts[parts.length - 1] += `.${part}`;
      isList = true;
    } else if (part) {
      parts.push(part);
      isList = false;
    }
  }
  return parts;
}

/**
 * The longest common beginning of two paths.
 */
export function commonPath(
  a: readonly string[],
  b: readonly string[]
): readonly string[] {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) {
    length++;
  }
  return a.slice(0, length);
}

/**
 * The last part of a dotted name: a class, an operator.
 */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}
