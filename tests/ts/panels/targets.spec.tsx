import * as React from 'react';
import { NO_CHOICES } from '../../../src/model/variants';
import { choose } from '../../../src/code/artifacts';
import { decisionsOf, timesOf } from '../../../src/code/notes';
import { modesFor } from '../../../src/code/mode';
import { KernelsBody } from '../../../src/panels/kernels/body';
import { RequestedBody } from '../../../src/panels/requested/body';
import { TargetSwitch } from '../../../src/panels/sidebar/switches/target';
import {
  CheckOutcome,
  EstimatedTime
} from '../../../src/panels/sidebar/variants/targetCells';
import { TargetEstimates } from '../../../src/panels/targets/estimates';
import type { Choices, TargetSummary } from '../../../src/protocol/types';
import { settle } from '../support/fakes';
import { KERNEL, ofTarget, REPORT, SUMMARY } from '../support/targetReport';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

const [H100, MI300X] = SUMMARY.variants;
const SOURCE = `kernel.inference.${KERNEL}`;

let page: ReturnType<typeof stage>;
let model: ViewModel;
let context: ReturnType<typeof contextOf>;

beforeEach(() => {
  page = stage();
  model = new ViewModel();
  model.report = SUMMARY;
  model.variant = H100.name;
  context = contextOf(model);
});

afterEach(() => page.remove());

describe('the switch', () => {
  const draw = (
    choices: Partial<Choices>,
    value: string | null,
    isOff = ''
  ) => {
    const onChange = jest.fn();
    page.draw(
      <TargetSwitch
        choices={{ ...NO_CHOICES, ...choices }}
        value={value}
        isOff={isOff}
        onChange={onChange}
        trans={context.trans}
      />
    );
    return onChange;
  };
  const select = () => page.all('select')[0] as HTMLSelectElement;

  it('lists targets under their vendors, by name', () => {
    const onChange = draw(
      {
        targets: ['h100', 'mi300x', 'mine'],
        titles: { h100: 'H100 SXM', mi300x: HOSTILE },
        groups: { h100: 'NVIDIA', mi300x: 'AMD', mine: 'your own' }
      },
      null
    );
    expect(
      page.all('optgroup').map(element => element.getAttribute('label'))
    ).toEqual(['NVIDIA', 'AMD', 'your own']);
    expect(page.all('option').map(element => element.textContent)).toEqual([
      'the arguments’ device',
      'H100 SXM',
      HOSTILE,
      'mine'
    ]);
    expect(page.all('img')).toEqual([]);
    page.choose(select(), 'h100');
    expect(onChange).toHaveBeenCalledWith('h100');
  });

  it('says that nothing runs on the one in force, also on one not listed', () => {
    const onChange = draw({ targets: ['h100'] }, 'gone');
    expect(select().value).toBe('gone');
    expect(page.text()).toContain('Nothing runs on it');
    page.choose(select(), '');
    expect(onChange).toHaveBeenCalledWith(null);
  });

  it('is off with the reason', () => {
    draw({ targets_off: 'Triton is not installed.' }, null);
    expect(select().disabled).toBe(true);
    const note = document.getElementById(
      select().getAttribute('aria-describedby')!
    );
    expect(note!.textContent).toBe('Triton is not installed.');
    draw({ targets: ['h100'] }, null, 'Nothing is compiled in eager');
    expect(select().disabled).toBe(true);
  });
});

describe('the sidebar’s cells', () => {
  const target = (change: Partial<TargetSummary>): TargetSummary => ({
    ...H100.target!,
    ...change
  });

  it('tell an estimate from a time', () => {
    page.draw(<EstimatedTime target={H100.target!} trans={context.trans} />);
    const [cell] = page.all('.jp-Compilescope-estimate');
    expect(cell.textContent).toBe('≥\u00a022.0\u00a0µsa call, est.');
    expect(cell.title).toContain('Nothing ran there');
    expect(cell.title).toContain('2 launches');
    page.draw(
      <EstimatedTime
        target={target({ estimate: null, call_words: 'no estimate' })}
        trans={context.trans}
      />
    );
    expect(page.text()).toBe('no estimate');
    expect(page.all('.jp-Compilescope-estimate')).toEqual([]);
  });

  it.each([
    [{ agrees: 2 }, '✓', 'jp-mod-ok'],
    [{ agrees: 1, 'not checked': 1 }, '1/2', ''],
    [{ agrees: 1, differs: 1 }, '✗', 'jp-mod-bad'],
    [{ 'not checked': 2 }, '–', 'jp-Compilescope-muted']
  ])('tell what checks found: %j', (checks, sign, kind) => {
    page.draw(
      <CheckOutcome
        target={target({ checks, kernels: 2 })}
        trans={context.trans}
      />
    );
    expect(page.text().startsWith(sign)).toBe(true);
    expect(page.host.firstElementChild!.className).toBe(kind);
  });
});

describe('the Code view', () => {
  const at = (variant: string, artifact: string) =>
    choose(SUMMARY, 'left', variant, '0/0', artifact);

  it('finds a form and a configuration of a kernel', () => {
    const config = 'XBLOCK=8, num_warps=2, num_stages=1';
    const item = at(H100.name, `${SOURCE}.ptx@${config}`);
    expect(item.artifact).toMatchObject({
      group: 'kernel',
      language: 'ptx',
      label: `${KERNEL}: PTX, ${config}`
    });
  });

  it('takes the nearest text that the other target has', () => {
    const name = (artifact: string) =>
      at(MI300X.name, artifact).address.artifact;
    expect(name(`${SOURCE}.sass`)).toBe(`${SOURCE}.amdgcn`);
    expect(name(`${SOURCE}.ttgir@XBLOCK=8, num_warps=2, num_stages=1`)).toBe(
      `${SOURCE}.ttgir`
    );
    expect(at(H100.name, `${SOURCE}.amdgcn`).address.artifact).toBe(
      `${SOURCE}.sass`
    );
  });

  it('compares one form of two targets as a diff, and two forms side by side', () => {
    const side = (variant: string, form: string) => {
      const { address, artifact } = at(variant, `${SOURCE}.${form}`);
      return { address, artifact: artifact! };
    };
    expect(
      modesFor(side(H100.name, 'ttgir'), side(MI300X.name, 'ttgir'), 0)[0]
    ).toBe('diff');
    expect(
      modesFor(side(H100.name, 'sass'), side(MI300X.name, 'amdgcn'), 0)[0]
    ).toBe('independent');
  });

  it('notes estimates as such, and decisions at their lines', () => {
    const { decisions, kernels } = ofTarget(H100.name);
    const times = timesOf(kernels, 'python');
    expect(times.size).toBe(2);
    for (const note of times.values()) {
      expect(note.isEstimate).toBe(true);
      expect(note.details).toMatch(/^Estimated, not measured.*H100 SXM/);
    }
    const marked = decisionsOf(decisions, 'python');
    expect([...marked.keys()]).toEqual(decisions[0].lines.python);
    expect(decisionsOf(decisions, 'cpp').size).toBe(0);
  });
});

describe('the Kernels view', () => {
  const draw = (change: Partial<typeof H100> = {}) => {
    const { decisions, kernels } = ofTarget(H100.name);
    model.report = { ...SUMMARY, variants: [{ ...H100, ...change }, MI300X] };
    page.draw(
      <KernelsBody
        variant={H100.name}
        first={{ id: '0/0', kernels, decisions, why: '' }}
        read={jest.fn()}
        context={context}
        origin={{}}
      />
    );
  };

  it('opens a configuration’s assembly beside the source', () => {
    model.select({ kernel: KERNEL });
    draw();
    expect(page.text()).toContain('Compiled for H100 SXM');
    expect(page.text()).toContain('agrees');
    page.click(
      page.button('Open the PTX of XBLOCK=8, num_warps=2, num_stages=1')
    );
    expect(model.selection.text).toEqual({
      variant: H100.name,
      compilation: '0/0',
      line: null,
      artifact: `${SOURCE}.ptx@XBLOCK=8, num_warps=2, num_stages=1`,
      beside: SOURCE
    });
    expect(context.open).toHaveBeenCalledWith('code');
  });

  it('explains the estimate and the check with the report’s sentences', () => {
    model.select({ kernel: KERNEL });
    draw();
    const kernel = ofTarget(H100.name).kernels.find(
      ({ name }) => name === KERNEL
    )!;
    const titles = page
      .all('.jp-Compilescope-estimate')
      .map(({ title }) => title);
    expect(titles).toContain(kernel.least!.text);
    expect(page.text()).toContain(kernel.check!.text.slice(0, 80));
  });

  it('offers what was not done yet', () => {
    draw({ studied: [], target: { ...H100.target!, compiled: 0 } });
    page.click(page.button('Compile for H100 SXM'));
    expect(model.startStudies).toHaveBeenCalledWith(['assembly'], [H100.name]);
    page.click(page.button('Check without the device'));
    expect(model.startStudies).toHaveBeenCalledWith(['check'], [H100.name]);
    expect(() => page.button('Measure kernels')).toThrow();
  });
});

it('the Requested view lists devices with their sources, and decisions', async () => {
  model.getCompilation.mockImplementation((name: string) =>
    Promise.resolve(ofTarget(name))
  );
  page.draw(<RequestedBody variants={REPORT.variants} context={context} />);
  await React.act(settle);
  for (const part of ['sm_90', 'gfx942', 'datasheet', 'cuDNN']) {
    expect(page.text()).toContain(part);
  }
  const [line] = ofTarget(H100.name).decisions[0].lines.python;
  page.click(page.button(`Python wrapper, line ${line}`));
  expect(model.selection.text).toMatchObject({ artifact: 'python', line });
});

it('the Requested view has a column for each device, not for each variant', async () => {
  model.getCompilation.mockImplementation((name: string) =>
    Promise.resolve(ofTarget(name))
  );
  const [h100, mi300x] = REPORT.variants;
  const cpp = { ...h100, name: 'cpp on h100' };
  page.draw(<RequestedBody variants={[h100, cpp, mi300x]} context={context} />);
  await React.act(settle);
  const table = page
    .all('table')
    .find(element => element.getAttribute('aria-label') === 'Target devices');
  const heads = [...table!.querySelectorAll('thead th')];
  expect(heads.map(element => element.textContent)).toEqual([
    'Figure',
    `${h100.name}, cpp on h100`,
    mi300x.name
  ]);
});

it('the estimate of a call is a lower bound, as in other views', () => {
  page.draw(<TargetEstimates variants={REPORT.variants} context={context} />);
  const estimates = page.all('.jp-Compilescope-estimate');
  expect(estimates.length).toBe(REPORT.variants.length);
  for (const estimate of estimates) {
    expect(estimate.textContent).toMatch(/^≥/);
  }
});

it('the Targets view has no figure below the cost of a launch', () => {
  page.draw(<TargetEstimates variants={REPORT.variants} context={context} />);
  expect(page.all('tbody tr')).toHaveLength(2);
  const estimates = page.all('.jp-Compilescope-estimate');
  expect(estimates).toHaveLength(2);
  const of = REPORT.variants.flatMap(variant => variant.target?.estimate ?? []);
  expect(of.every(estimate => estimate.call_us! >= estimate.launch_us)).toBe(
    true
  );
  expect(page.all('tbody tr')[0].textContent).toContain('launch-bound');
  // What both have in common once.
  const notes = page.all('.jp-Compilescope-hint > div');
  expect(notes.map(element => element.textContent)).toEqual([
    of[0].how,
    of[0].figures,
    of[1].figures,
    of[0].overhead
  ]);
});
