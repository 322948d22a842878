import { partsOf, pastable } from '../../../src/words/prose';

const codeIn = (text: string) =>
  partsOf(text)
    .filter(({ isCode }) => isCode)
    .map(({ text }) => text);

it('partsOf takes code out of sentences', () => {
  expect(partsOf('Use `x` or:\n```py\na = 1\nb\n```\nDone.')).toEqual([
    { text: 'Use ', isCode: false, isBlock: false },
    { text: 'x', isCode: true, isBlock: false },
    { text: ' or:\n', isCode: false, isBlock: false },
    { text: 'a = 1\nb', isCode: true, isBlock: true },
    { text: '\nDone.', isCode: false, isBlock: false }
  ]);
  expect(codeIn('options={"a": False}, or the Python wrapper.')).toEqual([
    'options={"a": False}'
  ]);
  expect(
    codeIn('torch._inductor.config.freezing = True, and torch.no_grad().')
  ).toEqual(['torch._inductor.config.freezing = True', 'torch.no_grad()']);
  expect(codeIn('Use dynamic=False, or torch.compiler.disable.')).toEqual([
    'dynamic=False',
    'torch.compiler.disable'
  ]);
  expect(codeIn('cs.study(report, "layers"), in the session.')).toEqual([
    'cs.study(report, "layers")'
  ]);
  expect(
    codeIn('Run compilescope.load("A").save(name("B")); all views work.')
  ).toEqual(['compilescope.load("A").save(name("B"))']);
  expect(codeIn('Use:\n```python\na = 1')).toEqual(['a = 1']);
  expect(partsOf('plain')).toHaveLength(1);
  expect(partsOf('an odd ` one')).toHaveLength(1);
  expect(partsOf('')).toEqual([]);
});

it('pastable is what is more than a name', () => {
  expect(pastable('Use dynamic=False, or torch.compiler.disable.')).toEqual([]);
  expect(pastable('Call torch.set_grad_enabled(False).')).toHaveLength(1);
  expect(pastable('Set torch.a.b = True.')).toEqual(['torch.a.b = True']);
});

it('code after the last sentence is a block, and not shown twice', () => {
  const text = 'Use the Python wrapper. torch.a.b = True';
  expect(partsOf(text)).toEqual([
    { text: 'Use the Python wrapper. ', isCode: false, isBlock: false },
    { text: 'torch.a.b = True', isCode: true, isBlock: true }
  ]);
  expect(pastable(text)).toEqual([]);
  expect(partsOf('torch.a.b = True')[0].isBlock).toBe(false);
  expect(partsOf('Compare it. See torch.a.b')[1].isBlock).toBe(false);
});
