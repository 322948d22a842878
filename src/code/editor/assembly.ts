import { StreamLanguage, type StringStream } from '@codemirror/language';
import type { Extension } from '@codemirror/state';

/**
 * The syntax of a language that kernels are compiled to: what begins a comment, and its words,
 * the first that fits.
 */
interface ISyntax {
  comment: RegExp;
  words: readonly (readonly [RegExp, string])[];
  /** Whether a line's first word is an instruction. */
  hasInstructions?: boolean;
}

const STRING = [/^"(?:[^"\\]|\\.)*"?/, 'string'] as const;
const NUMBER = [
  /^[-+]?(?:0[xXfFdD][\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\b/,
  'number'
] as const;
const TYPE = [
  /^(?:[su]?i\d+|b?f\d+\w*|bf16|index|ptr|void)\b/,
  'typeName'
] as const;

const SYNTAXES: Record<string, ISyntax> = {
  // Triton's own dialects.
  mlir: {
    comment: /^\/\/.*/,
    words: [
      STRING,
      [/^%[\w#:$.-]+/, 'variableName'],
      [/^#[\w.$-]+/, 'meta'],
      [/^@[\w.$-]+/, 'variableName.definition'],
      [/^\^\w+/, 'labelName'],
      [/^!?tt\.ptr\b|^tensor\b|^!\w[\w.]*/, 'typeName'],
      TYPE,
      [/^(?:module|loc|attributes|dense|true|false|unit)\b/, 'keyword'],
      [/^\d+(?:x\d+)*x(?=\w|!)/, 'number'],
      NUMBER,
      [/^[a-z]\w*\.[\w.]+/, 'keyword']
    ]
  },
  llvm: {
    comment: /^;.*/,
    words: [
      STRING,
      [/^%[\w.$-]+/, 'variableName'],
      [/^@[\w.$-]+/, 'variableName.definition'],
      [/^![\w.]*/, 'meta'],
      [/^#\d+/, 'meta'],
      [/^[\w.$-]+:(?=\s|$)/, 'labelName'],
      TYPE,
      [/^<?\d+ x\b/, 'number'],
      NUMBER,
      [/^[a-z][\w.]*/, 'keyword']
    ]
  },
  ptx: {
    comment: /^\/\/.*/,
    hasInstructions: true,
    words: [
      STRING,
      [/^@!?%p\d+/, 'operatorKeyword'],
      [/^[$\w]+:(?=\s|$)/, 'labelName'],
      [/^%[\w.]+/, 'variableName'],
      [/^\.[a-zA-Z_]\w*/, 'meta'],
      [/^\$\w+/, 'labelName'],
      NUMBER
    ]
  },
  sass: {
    comment: /^\/\/.*|^\/\*.*?\*\//,
    hasInstructions: true,
    words: [
      [/^[\d-]{2,}:[\w:-]+(?=\s)/, 'comment'],
      [/^@!?U?P[T\d]\w*/, 'operatorKeyword'],
      [/^\.?[\w.$]+:(?=\s|$)/, 'labelName'],
      [/^!?U?(?:R(?:Z|\d+)|P(?:T|\d+))(?:\.[\w.]+)?\b/, 'variableName'],
      [/^SR_[\w.]+|^SRZ\b|^c\[[^\]]*\](?:\[[^\]]*\])?|^desc\b/, 'atom'],
      [/^`?\(?\.L_\w+\)?/, 'labelName'],
      NUMBER
    ]
  },
  amdgcn: {
    comment: /^(?:;|\/\/).*/,
    hasInstructions: true,
    words: [
      STRING,
      [/^[.$\w]+:(?=\s|$)/, 'labelName'],
      [
        /^-?\|?(?:[vsa]\d+\b|[vsa]\[\d+:\d+\])\|?|^(?:vcc|exec|m0|scc)\w*/,
        'variableName'
      ],
      [/^\.[a-zA-Z_][\w.]*/, 'meta'],
      [/^(?:off|offset|glc|slc|nt|sc[01]|vmcnt|lgkmcnt|expcnt)\b/, 'atom'],
      NUMBER
    ]
  }
};

/**
 * The syntax of a language that kernels are compiled to; null for another language.
 */
export function assemblySyntax(language: string): Extension | null {
  const syntax = SYNTAXES[language];
  return syntax ? StreamLanguage.define(parserOf(language, syntax)) : null;
}

interface IState {
  /** Whether nothing but labels and predicates stood on the line so far. */
  isFirst: boolean;
}

function parserOf(name: string, syntax: ISyntax) {
  return {
    name,
    startState: (): IState => ({ isFirst: true }),
    token: (stream: StringStream, state: IState): string | null => {
      if (stream.sol()) {
        state.isFirst = true;
      }
      if (stream.eatSpace()) {
        return null;
      }
      if (stream.match(syntax.comment)) {
        return 'comment';
      }
      for (const [pattern, style] of syntax.words) {
        if (stream.match(pattern)) {
          state.isFirst &&= LEADING.has(style);
          return style;
        }
      }
      const word = stream.match(/^[A-Za-z_][\w.:$]*/);
      if (!word) {
        // Braces may stand before an instruction.
        const next = stream.next() ?? '';
        state.isFirst &&= next === '{' || next === '}';
        return null;
      }
      const isInstruction = !!syntax.hasInstructions && state.isFirst;
      state.isFirst = false;
      return isInstruction ? 'keyword' : null;
    }
  };
}

/** What may stand before an instruction on its line. */
const LEADING = new Set(['labelName', 'operatorKeyword', 'comment']);
