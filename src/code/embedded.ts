/**
 * A kernel's source inside the text of its definition.
 */
export interface IEmbeddedSource {
  language: 'cpp' | 'python';
  /** Where the source begins in the definition's text, in characters. */
  from: number;
  to: number;
}

const OPENING = /async_compile\.(\w+)\([^\n]*?(r?'''|r?""")/;

/**
 * Find the source in a kernel's definition in the Python wrapper:
 * `name = async_compile.cpp_pybinding([…], r'''…''')`.
 *
 * @returns Null when the definition is not of that form; it is then left as Python shows it.
 */
export function embeddedSource(definition: string): IEmbeddedSource | null {
  const opening = OPENING.exec(definition);
  if (!opening) {
    return null;
  }
  const from = opening.index + opening[0].length;
  const to = definition.indexOf(opening[2].slice(-3), from);
  return to < 0
    ? null
    : {
        language: opening[1].startsWith('triton') ? 'python' : 'cpp',
        from,
        to
      };
}
