import * as React from 'react';
import { ChangesBody } from '../../../src/panels/changes/body';
import type { Changes } from '../../../src/protocol/types';
import { variantSummary } from '../support/fakes';
import { variantReport } from '../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

const KERNEL = {
  outcome: 'identical',
  lines: 0,
  why: '',
  compilation: '0/0',
  baseline_compilation: '0/0',
  direction: 'inference',
  language: 'cpp'
} as const;

const CHANGES: Changes = {
  baseline: 'python',
  switches: ['dynamic'],
  summary: 'Compared with python: 1 of 2 kernels is identical, 1 differs.',
  only_inductor: [],
  backend_words: '',
  kernels: [
    { ...KERNEL, kernel: 'cpp_fused_add_0', baseline: 'cpp_fused_add_0' },
    {
      ...KERNEL,
      kernel: 'cpp_fused_sum_1',
      baseline: 'cpp_fused_sum_2',
      outcome: 'differs',
      lines: 3,
      why: `Sizes are arguments here ${HOSTILE}`
    }
  ],
  changes: [
    {
      kind: 'guards',
      what: 'guards of 0/0',
      baseline: '31',
      here: '35',
      why: ''
    },
    {
      kind: 'setting',
      what: 'dynamic',
      baseline: 'automatic',
      here: 'on',
      why: ''
    }
  ]
};

describe('ChangesBody', () => {
  let place: ReturnType<typeof stage>;
  let model: ViewModel;
  let context: ReturnType<typeof contextOf>;

  beforeEach(() => {
    // As much of a layout as a table needs to draw its rows.
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
    jest
      .spyOn(HTMLElement.prototype, 'offsetHeight', 'get')
      .mockReturnValue(600);
    place = stage();
    model = new ViewModel();
    context = contextOf(model);
  });

  afterEach(() => {
    place.remove();
    jest.restoreAllMocks();
  });

  const draw = (changes: Changes | null) =>
    place.draw(
      <ChangesBody
        variant={variantReport('python dynamic', { changes })}
        variants={[
          variantSummary('python'),
          variantSummary('python dynamic', {}, { changed: CHANGES })
        ]}
        context={context}
        origin={model}
      />
    );

  it('tells of every variant in a sentence, and turns to it', () => {
    draw(null);
    expect(place.text()).toContain(CHANGES.summary);
    expect(place.text()).toContain('is the baseline');
    place.click(place.button('python dynamic'));
    expect(model.variant).toBe('python dynamic');
  });

  it('says that the only variant for a target is compared with none', () => {
    place.draw(
      <ChangesBody
        variant={variantReport('on h100', { changes: null })}
        variants={[
          variantSummary('python'),
          variantSummary('on h100', { target: 'h100' })
        ]}
        context={context}
        origin={model}
      />
    );
    const words = place.all('li > span').map(({ textContent }) => textContent);
    expect(words).toEqual([
      'baseline',
      'not compared: the only variant for h100'
    ]);
    expect(place.text()).toContain(
      'on h100 is the only variant for its target'
    );
    expect(place.text()).not.toContain('Select another variant');
  });

  it('lists what differs before what is identical, settings before the rest', () => {
    draw(CHANGES);
    const rows = place.all('.jp-Compilescope-tableRow');
    expect(rows.map(element => element.textContent)).toEqual([
      expect.stringContaining('cpp_fused_sum_1'),
      expect.stringContaining('cpp_fused_add_0')
    ]);
    expect(place.all('dt').map(element => element.textContent)).toEqual([
      'setting dynamic',
      'guards guards of 0/0'
    ]);
    expect(place.host.querySelector('img')).toBeNull();
  });

  it('opens both kernels in the code view', () => {
    draw(CHANGES);
    place.click(place.all('.jp-Compilescope-tableRow')[0]);
    expect(place.text()).toContain('3 lines differ.');
    place.click(place.button('Compare in Code'));
    expect(model.select).toHaveBeenCalledWith(
      expect.objectContaining({
        text: {
          variant: 'python dynamic',
          compilation: '0/0',
          artifact: 'kernel.inference.cpp_fused_sum_1',
          line: null,
          beside: 'kernel.inference.cpp_fused_sum_2',
          besideVariant: 'python',
          besideCompilation: '0/0'
        }
      })
    );
    expect(context.open).toHaveBeenCalledWith('code');
  });

  it('names what Inductor alone gives', () => {
    const words =
      'Inductor only: the kernels. The backend does not produce them.';
    draw({ ...CHANGES, kernels: [], backend_words: words });
    expect(place.text()).toContain(words);
  });
});
