import * as React from 'react';
import { WrappersBody } from '../../../src/panels/wrappers/body';
import { stepRows } from '../../../src/panels/wrappers/stepRows';
import { WrappersView } from '../../../src/panels/wrappers/view';
import type { ReportSummary, Step, Steps } from '../../../src/protocol/types';
import { launchesByLine } from '../../../src/words/launches';
import { report, variantSummary } from '../support/fakes';
import {
  fullCompilation,
  kernelOf,
  launchOf,
  variantReport
} from '../support/structs';
import {
  contextOf,
  HOSTILE,
  stage,
  viewStage,
  ViewModel
} from '../support/views';
import type { IWrappers } from '../../../src/panels/wrappers/types';

function step(
  kind: Step['kind'],
  key: string,
  start: number,
  change: Partial<Step> = {}
): Step {
  return {
    kind,
    start,
    end: start,
    key,
    label: key,
    kernel: kind === 'launch' ? key : '',
    sources: [],
    us: null,
    interval_us: null,
    how: '',
    ...change
  };
}

function steps(
  artifact: Steps['artifact'],
  own: Step[],
  change: Partial<Steps> = {}
): Steps {
  return {
    artifact,
    direction: 'inference',
    steps: own,
    kinds: own.map(({ kind, us }) => ({
      ...{ kind, count: 1, us },
      share: us === null ? null : us / (change.sum_us ?? us)
    })),
    whole_us: null,
    sum_us: null,
    agrees: true,
    why: '',
    ...change
  };
}

const PYTHON = steps(
  'python',
  [
    step('entry', 'e', 10, { us: 0.4 }),
    step('allocation', 'a', 12, { us: 0.9 }),
    step('launch', 'l', 14, { us: 7.5, how: 'The clock is read.' }),
    step('return', 'r', 15, { us: 1.2 })
  ],
  { whole_us: 10.2, sum_us: 10 }
);
const CPP = steps(
  'cpp',
  [
    step('entry', 'e', 30, { end: 38, us: 2 }),
    step('stream', 's', 40, { us: 0.1 }),
    step('launch', 'l', 44, { us: 6 }),
    step('return', 'r', 46)
  ],
  { whole_us: 9, sum_us: 8.1, agrees: false, why: 'It was busy.' }
);

describe('launchesByLine', () => {
  it('has those of the first graph alone, which has the text', () => {
    const at = (key: string) =>
      launchesByLine(
        [kernelOf('k', { direction: 'backward', launches: [launchOf(key)] })],
        'backward.python'
      ).size;
    expect(at('launch:backward:#1')).toBe(1);
    expect(at('launch:backward.2:#1')).toBe(0);
  });
});

function keysOf(python: Step[], cpp: Step[]) {
  return stepRows(python, cpp).map(row => [row.python?.key, row.cpp?.key]);
}

describe('stepRows', () => {
  it('puts steps of one key in one row, both in their own order', () => {
    expect(keysOf(PYTHON.steps, CPP.steps)).toEqual([
      ['e', 'e'],
      ['a', undefined],
      [undefined, 's'],
      ['l', 'l'],
      ['r', 'r']
    ]);
  });

  it('keeps each order where they differ', () => {
    const of = (...keys: string[]) =>
      keys.map((key, index) => step('free', key, index));
    const rows = keysOf(of('x', 'a', 'b', 'c'), of('a', 'b', 'c', 'x'));
    expect(rows).toEqual([
      ['x', undefined],
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
      [undefined, 'x']
    ]);
  });

  it('takes a wrapper alone', () => {
    expect(keysOf([], CPP.steps).map(([left]) => left)).toEqual(
      CPP.steps.map(() => undefined)
    );
  });
});

describe('WrappersBody', () => {
  // jsdom lays nothing out: there would be room for no row.
  beforeEach(() => {
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
    jest
      .spyOn(HTMLElement.prototype, 'offsetHeight', 'get')
      .mockReturnValue(600);
  });

  afterEach(() => jest.restoreAllMocks());

  const drawn = (
    change: Partial<IWrappers> = {},
    { isLive = true, ...of }: Partial<ReportSummary> & { isLive?: boolean } = {}
  ) => {
    const model = new ViewModel();
    model.isLive = isLive;
    model.report = report('f', of);
    const context = contextOf(model);
    const page = stage();
    page.draw(
      <WrappersBody
        wrappers={{
          pair: { python: 'python', cpp: 'cpp' },
          python: [PYTHON],
          cpp: [CPP],
          reasons: [],
          ...change
        }}
        compilation="0/0"
        context={context}
        origin={{}}
      />
    );
    return { model, context, page };
  };

  it('names the line in the notebook, not what that calls', () => {
    const source = (file: string, line: number) => ({
      file,
      line,
      function: 'forward',
      code: ''
    });
    const sources = [source('/torch/functional.py', 3006), source('cell', 12)];
    const names = (files: Record<string, string>) => {
      const { page } = drawn(
        { python: [steps('python', [step('launch', 'l', 14, { sources })])] },
        { files }
      );
      return page.text();
    };
    expect(names({ cell: '' })).toContain('cell line 12');
    expect(names({})).toContain('functional.py:3006');
  });

  it('says what each kind costs, the sums, and what does not add up', () => {
    const { page } = drawn();
    const rows = page
      .all('.jp-Compilescope-stepFigures tr')
      .map(element => [...element.children].map(cell => cell.textContent));
    expect(rows[0].slice(1, 3)).toEqual(['Python, steps', 'Python, time']);
    expect(rows[4]).toEqual([
      'kernel launch',
      '1',
      '7.50 µs',
      '75 %',
      '1',
      '6.00 µs',
      '74 %'
    ]);
    expect(rows[6].slice(2, 3)).toEqual(['10.0 µs']);
    expect(page.text()).toContain('It was busy.');
    expect(page.text()).toContain('sum 8.10 µs of 9.00 µs');
    page.remove();
  });

  it.each([
    { stage: 'built', isLive: true, says: '“Measure steps” measures' },
    { stage: 'sources', isLive: true, says: 'once the variants are built' },
    { stage: 'built', isLive: false, says: 'not measured in this report' }
  ] as const)(
    'says of steps without times: $says',
    ({ stage, isLive, says }) => {
      const { page } = drawn(
        {
          python: [{ ...PYTHON, whole_us: null }],
          cpp: [{ ...CPP, whole_us: null }]
        },
        { variants: [variantSummary('python', {}, { stage })], isLive }
      );
      expect(page.text()).toContain(says);
      page.remove();
    }
  );

  it('asks for no build for a device that is not here', () => {
    const { page } = drawn(
      { pair: { python: null, cpp: 'cpp on h100' }, python: [] },
      {
        variants: [
          variantSummary('python'),
          variantSummary('cpp on h100', { cpp_wrapper: true, target: 'h100' })
        ]
      }
    );
    expect(page.text()).not.toContain('Measure steps');
    expect(page.text()).not.toContain('Build the variants');
    expect(page.text()).toContain(
      'No Python wrapper with the other settings of cpp on h100. Turn off cpp_wrapper'
    );
    page.remove();
  });

  it('goes to the line in the code view', () => {
    const { page, model, context } = drawn();
    page.click(page.button('44'));
    expect(model.select).toHaveBeenCalledWith(
      expect.objectContaining({
        key: 'l',
        text: { variant: 'cpp', compilation: '0/0', artifact: 'cpp', line: 44 }
      })
    );
    expect(context.open).toHaveBeenCalledWith('code');
    page.remove();
  });

  it('shows one graph at a time', () => {
    const { page, model } = drawn({
      python: [
        { ...PYTHON, direction: 'forward' },
        { ...PYTHON, direction: 'backward' }
      ],
      cpp: [{ ...CPP, direction: 'backward', whole_us: null, why: '' }]
    });
    expect(page.text()).not.toContain('C++');
    page.choose(page.all('select')[0], 'backward 1');
    page.click(page.button('44'));
    expect(model.select).toHaveBeenCalledWith(
      expect.objectContaining({
        text: expect.objectContaining({ artifact: 'backward.cpp' })
      })
    );
    page.remove();
  });

  it('leads from no line of a further graph to the text of the first', () => {
    const { page } = drawn({ python: [], cpp: [CPP, CPP] });
    page.choose(page.all('select')[0], 'inference 2');
    expect(page.text()).toContain('44');
    expect(() => page.button('44')).toThrow();
    page.remove();
  });

  it('shows names as text, and starts the study', () => {
    const { page, model } = drawn({
      python: [steps('python', [step('launch', HOSTILE, 3)])],
      cpp: [],
      reasons: [HOSTILE]
    });
    expect(page.all('img')).toEqual([]);
    expect(page.text()).toContain(HOSTILE);
    page.click(page.button('Measure steps'));
    expect(model.startStudies).not.toHaveBeenCalled();
    page.remove();
  });
});

describe('WrappersView', () => {
  const { attach, remove } = viewStage();

  it.each(['tuned', 'tuned cpp'])(
    'loads the steps of %s and of the variant that the report names',
    async shown => {
      const model = new ViewModel();
      model.variant = shown;
      model.report = report('f', {
        variants: [
          variantSummary('cpp', { cpp_wrapper: true }),
          variantSummary('tuned', {}, { other_wrapper: 'tuned cpp' }),
          variantSummary(
            'tuned cpp',
            { cpp_wrapper: true },
            { other_wrapper: 'tuned' }
          )
        ]
      });
      model.getVariant.mockResolvedValue(variantReport('tuned'));
      model.getCompilation.mockResolvedValue(
        fullCompilation({ steps: [PYTHON, CPP] })
      );
      await attach(new WrappersView(contextOf(model)));
      expect(model.getCompilation.mock.calls.map(([name]) => name)).toEqual([
        'tuned',
        'tuned cpp'
      ]);
      remove();
    }
  );
});
