import { ensureSyntaxTree } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { tagHighlighter, highlightTree, tags } from '@lezer/highlight';
import { assemblySyntax } from '../../../src/code/editor/assembly';
import { lineRegions } from '../../../src/code/lines';
import { FORM_LANGUAGES } from '../../../src/protocol/types';
import { ofTarget, resultOf } from '../support/targetReport';

const NAMES = tagHighlighter([
  { tag: tags.keyword, class: 'keyword' },
  { tag: tags.comment, class: 'comment' },
  { tag: tags.number, class: 'number' },
  { tag: tags.labelName, class: 'label' },
  { tag: tags.typeName, class: 'type' },
  { tag: tags.operatorKeyword, class: 'predicate' },
  { tag: tags.variableName, class: 'register' },
  { tag: tags.meta, class: 'meta' }
]);

/**
 * The words of a line, each with what it is shown as.
 */
function words(language: string, line: string): string[] {
  const syntax = assemblySyntax(language)!;
  const state = EditorState.create({ doc: line, extensions: syntax });
  const tree = ensureSyntaxTree(state, line.length, 5000)!;
  const matches: string[] = [];
  highlightTree(tree, NAMES, (from, to, name) =>
    matches.push(`${name} ${line.slice(from, to)}`)
  );
  return matches;
}

describe('the syntax of what kernels are compiled to', () => {
  it.each([
    [
      'ptx',
      '@%p1 ld.global.b32 %r2, [%rd1+16]; // load',
      [
        'predicate @%p1',
        'keyword ld.global.b32',
        'register %r2',
        'register %rd1',
        'number +16',
        'comment // load'
      ]
    ],
    [
      'sass',
      '        /*0190*/              @!P0 LDG.E.EF.U16 R6, desc[UR4][R2.64] ;',
      [
        'comment /*0190*/',
        'predicate @!P0',
        'keyword LDG.E.EF.U16',
        'register R6',
        'register UR4',
        'register R2.64'
      ]
    ],
    [
      'amdgcn',
      '\tv_add_f32_e32 v3, s[4:7], v2 ; sum',
      [
        'keyword v_add_f32_e32',
        'register v3',
        'register s[4:7]',
        'register v2',
        'comment ; sum'
      ]
    ],
    [
      'llvm',
      '%5 = add i32 %4, 7, !dbg !9 ; more',
      [
        'register %5',
        'keyword add',
        'type i32',
        'register %4',
        'number 7',
        'meta !dbg',
        'meta !9',
        'comment ; more'
      ]
    ],
    [
      'mlir',
      '%0 = arith.constant dense<1.0> : tensor<32xf32, #blocked> loc(#loc1)',
      [
        'register %0',
        'keyword arith.constant',
        'keyword dense',
        'number 1.0',
        'type tensor',
        'number 32x',
        'type f32',
        'meta #blocked',
        'keyword loc',
        'meta #loc1'
      ]
    ]
  ])('%s', (language, line, tokens) => {
    expect(words(language, line)).toEqual(expect.arrayContaining(tokens));
  });

  it('reads all of a real kernel', () => {
    for (const [variant, forms] of [
      ['python on h100', ['ttir', 'ttgir', 'llir', 'ptx', 'sass']],
      ['python on mi300x', ['amdgcn']]
    ] as const) {
      for (const form of forms) {
        const { text } = resultOf(variant, form);
        const shown = words(FORM_LANGUAGES[form], text);
        expect(shown.length).toBeGreaterThan(text.split('\n').length);
      }
    }
  });

  it('knows no other language', () => {
    expect(assemblySyntax('python')).toBeNull();
  });
});

describe('lineRegions', () => {
  it('links a line of the source with what it was compiled to, in every form', () => {
    const source = resultOf('python on h100', '');
    const load = lineRegions(source).find(region =>
      region.label.startsWith('tmp1 = tl.load')
    )!;
    for (const form of ['ttir', 'ttgir', 'llir', 'ptx', 'sass']) {
      const result = resultOf('python on h100', form);
      const matches = lineRegions(result).filter(({ key }) => key === load.key);
      expect(matches.length).toBeGreaterThan(0);
      expect(result.lines.slice(matches[0].start - 1, matches[0].end)).toEqual(
        Array(matches[0].end - matches[0].start + 1).fill(load.start)
      );
    }
    // The same line for another device is the same line.
    const keys = (variant: string, form: string) =>
      new Set(lineRegions(resultOf(variant, form)).map(({ key }) => key));
    const other = keys('python on mi300x', 'amdgcn');
    const shared = [...keys('python on h100', 'sass')].filter(key =>
      other.has(key)
    );
    expect(shared.length).toBeGreaterThan(5);
  });

  it('is for compiled kernels alone', () => {
    const { artifact, ...rest } = resultOf('python on h100', '');
    const plain = { ...artifact, forms: [] };
    expect(lineRegions({ artifact: plain, ...rest })).toEqual([]);
    expect(ofTarget('python on h100').kernels).toHaveLength(2);
  });
});
