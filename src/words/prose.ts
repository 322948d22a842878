/**
 * A text in sentences, and the code in it.
 */
export interface IPart {
  readonly text: string;
  readonly isCode: boolean;
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
 * Take a text apart into sentences and code.
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
      text: (block ?? inline.find(each => each) ?? '').replace(/\n$/, ''),
      isCode: true,
      isBlock: block !== undefined
    });
    last = match.index + match[0].length;
  }
  say(remedy.slice(last));
  return parts;
}

/**
 * The code in a text that is worth pasting: statements and calls, not mere names
 * and short arguments. Fenced code stands where it is.
 */
export function pastable(text: string): string[] {
  return partsOf(text)
    .filter(part => part.isCode && !part.isBlock && /[({]| = /.test(part.text))
    .map(part => part.text);
}
