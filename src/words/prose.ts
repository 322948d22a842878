/**
 * A part of a text: a sentence, or code in it.
 */
export interface IPart {
  readonly text: string;
  readonly isCode: boolean;

  /**
   * Whether it is not part of a sentence: fenced code, or a statement or call after
   * the last sentence.
   */
  readonly isBlock: boolean;
}

/**
 * Code in a sentence: fenced, between backquotes, or plain to see: a call of this
 * package, a name in torch with its call or its new value, an argument with its
 * value. A fence that is cut off ends with the text.
 */
const CODE = new RegExp(
  [
    /```(?:\w*\n)?([\s\S]*?)(?:```|$)/,
    /`([^`]+)`/,
    /(\b(?:cs|compilescope)(?:\.\w+\((?:[^()]|\([^()]*\))*\))+)/,
    /(@?\btorch(?:\.\w+)+(?:\([^()]*\)| = [\w.]+\w)?)/,
    /(\b\w+=(?:\{[^{}]*\}|"[^"]*"|True|False|None))/
  ]
    .map(({ source }) => source)
    .join('|'),
  'g'
);

/**
 * Split a text into sentences and code.
 */
export function partsOf(remedy: string): IPart[] {
  const parts: IPart[] = [];
  let last = 0;
  const say = (text: string) => {
    if (text) {
      parts.push({ text, isCode: false, isBlock: false });
    }
  };
  for (const match of remedy.matchAll(CODE)) {
    say(remedy.slice(last, match.index));
    const [, block, ...inline] = match as (string | undefined)[];
    parts.push({
      text: (block ?? inline.find(text => text) ?? '').replace(/\n$/, ''),
      isCode: true,
      isBlock: block !== undefined
    });
    last = match.index + match[0].length;
  }
  say(remedy.slice(last));
  const [before, end] = parts.slice(-2);
  if (end && isPastable(end) && /\.\s+$/.test(before.text)) {
    parts.splice(-1, 1, { ...end, isBlock: true });
  }
  return parts;
}

/**
 * The code in the sentences of a text that is worth pasting: statements and calls,
 * not mere names and short arguments. A block stands where it is.
 */
export function pastable(text: string): string[] {
  return partsOf(text)
    .filter(part => isPastable(part) && !part.isBlock)
    .map(part => part.text);
}

function isPastable({ text, isCode }: IPart): boolean {
  return isCode && /[({]| = /.test(text);
}
