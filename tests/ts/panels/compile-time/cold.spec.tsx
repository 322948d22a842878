import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import type { IChartTheme } from '../../../../src/charts';
import { ColdPart } from '../../../../src/panels/compile-time/cold/part';
import { coldChartOf } from '../../../../src/panels/compile-time/cold/chart';
import type { ColdSwitch } from '../../../../src/protocol/types';
import { variantReport } from '../../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../../support/views';

const trans = nullTranslator.load('jupyterlab_compilescope');

function row(change: Partial<ColdSwitch>): ColdSwitch {
  return {
    switch: 'fx_graph_cache',
    value: 'False',
    label: 'fx_graph_cache = False',
    title: '',
    code: '',
    cold_s: null,
    warm_s: null,
    cold_parts: {},
    warm_parts: {},
    call_us: null,
    call_interval_us: null,
    cold_more_s: null,
    warm_more_s: null,
    call_more_us: null,
    how: '',
    why: '',
    problem: null,
    ...change
  };
}

const ROWS = [
  row({
    switch: 'as it is',
    value: '',
    label: 'current settings',
    how: 'One first call each.',
    cold_s: 20,
    warm_s: 2,
    call_us: 50,
    cold_parts: { cpp_build: 15, dynamo: 5 }
  }),
  row({
    switch: 'precompiled headers kept',
    value: '',
    label: 'precompiled headers kept',
    cold_s: 8,
    cold_more_s: -12,
    why: 'Warm is as before.'
  }),
  row({
    switch:
      'cpp_wrapper_build_separate, aot_inductor.compile_wrapper_opt_level',
    value: 'True, O0',
    label:
      'cpp_wrapper_build_separate = True, aot_inductor.compile_wrapper_opt_level = O0',
    code: 'torch._inductor.config.cpp_wrapper_build_separate = True',
    cold_s: 14,
    warm_s: 1.5,
    call_us: 55,
    cold_more_s: -6,
    warm_more_s: -0.5,
    call_more_us: 5
  }),
  row({
    cold_s: 20.2,
    warm_s: 9,
    call_us: 50,
    cold_more_s: 0,
    warm_more_s: 7,
    call_more_us: 0
  }),
  row({
    switch: HOSTILE,
    value: 'x',
    label: `${HOSTILE} = x`,
    why: 'It is of Triton’s kernels.'
  })
];

describe('what settings change in the first call', () => {
  const page = stage();
  let model: ViewModel;

  beforeEach(() => {
    model = new ViewModel();
  });

  function show(cold: readonly ColdSwitch[], isBuilt = true): void {
    page.draw(
      <ColdPart
        variant={variantReport('cpp', {
          stage: isBuilt ? 'built' : 'sources',
          cold: [...cold],
          cold_gain: 'Largest gain: with cold caches headers.'
        })}
        context={contextOf(model)}
      />
    );
  }

  it('is measured when it is asked for, and only what is built', () => {
    show([]);
    expect(page.text()).toContain('How precompiled headers');
    page.click(page.button('Measure'));
    expect(model.startStudies).toHaveBeenCalledWith(['cold'], ['cpp']);
    show([], false);
    expect(page.text()).toContain('Build and time the variant first.');
  });

  it('shows figures, what they are more, and why there are none', () => {
    show(ROWS);
    const cells = page
      .all('tbody tr')
      .map(element => [...element.children].map(cell => cell.textContent));
    expect(cells[0].slice(0, 6)).toEqual([
      'current settings',
      '20.0 s',
      '',
      '2.00 s',
      '',
      '50.0 µs'
    ]);
    expect(cells[2][0]).toBe(
      'cpp_wrapper_build_separate = True, aot_inductor.compile_wrapper_opt_level = O0'
    );
    expect(cells[2].slice(1, 6)).toEqual([
      '14.0 s−6.00 s',
      '',
      '1.50 s−500 ms',
      '',
      '55.0 µs+5.00 µs'
    ]);
    // No difference is not one of nothing.
    expect(cells[3][1]).toBe('20.2 s');
    expect(cells[4]).toEqual([
      `${HOSTILE} = x`,
      'It is of Triton’s kernels.',
      ''
    ]);
    expect(page.text()).toContain('One first call each.');
    expect(page.all('img')).toEqual([]);
  });

  it('says what helps most', () => {
    show(ROWS);
    expect(page.text()).toContain('Largest gain: with cold caches headers.');
  });

  it('draws what was measured', () => {
    const theme = {
      series: ['a', 'b', 'c'],
      text: 'black'
    } as unknown as IChartTheme;
    const { traces, layout } = coldChartOf(ROWS, trans)(theme, {
      width: 600,
      height: 300
    });
    expect(traces.map(({ x }) => x)).toEqual([
      [20, 8, 14, 20.2],
      [2, null, 1.5, 9]
    ]);
    const shapes = layout!.shapes as { x0: number }[];
    expect(shapes.map(({ x0 }) => x0)).toEqual([20, 2]);
  });
});
