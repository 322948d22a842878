import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * Settings of Inductor, as a variant has them.
 */
export type Options = Readonly<Record<string, unknown>>;

/**
 * Sets of settings, one per line: `max_fusion_size=8, epilogue_fusion=False`. A
 * line copied from Python, in braces, is also accepted.
 *
 * @throws Error: a line cannot be read; the message says which.
 */
export function parseOptions(
  text: string,
  trans: TranslationBundle
): Options[] {
  return text
    .split('\n')
    .map(line => line.trim().replace(/^\{(.*)\}$/, '$1'))
    .filter(Boolean)
    .map(line =>
      Object.fromEntries(parts(line).map(part => entry(part, trans)))
    );
}

const NAMED: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['True', true],
  ['true', true],
  ['False', false],
  ['false', false],
  ['None', null],
  ['null', null]
]);

function entry(part: string, trans: TranslationBundle): [string, unknown] {
  const match = /^["']?([A-Za-z_][\w.]*)["']?\s*[=:]\s*(.+)$/.exec(part.trim());
  if (!match) {
    throw new Error(
      trans.__('“%1” is not a setting; write name=value.', part.trim())
    );
  }
  const [, name, value] = match;
  if (NAMED.has(value)) {
    return [name, NAMED.get(value)];
  }
  try {
    return [name, JSON.parse(value.replace(/^'(.*)'$/, '"$1"'))];
  } catch {
    throw new Error(
      trans.__(
        '“%1” is not a value; write a number, True, False, None or a quoted string.',
        value
      )
    );
  }
}

/**
 * Splits a text at the commas that are outside brackets and quotes.
 */
function parts(line: string): string[] {
  const matches =
    line.match(/(?:\[[^\]]*\]|"[^"]*"|'[^']*'|[^,[\]"']+)+/g) ?? [];
  return matches.filter(part => part.trim());
}
