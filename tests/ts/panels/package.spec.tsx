import { PackageBody } from '../../../src/panels/package/body';
import { shorten } from '../../../src/panels/package/files';
import type { Package, VariantReport } from '../../../src/protocol/types';
import * as React from 'react';
import { act } from 'react';
import { report, variantSummary } from '../support/fakes';
import { timing } from '../support/measured';
import { compilationSummary, variantReport } from '../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

function file(
  path: string,
  change: Partial<Package['files'][number]> = {}
): Package['files'][number] {
  return {
    path,
    bytes: 2048,
    kind: 'metadata',
    language: 'json',
    text: null,
    ...change
  };
}

function packageOf(change: Partial<Package> = {}): Package {
  return {
    model: 'model',
    path: '',
    device: 'cpu',
    files: [
      file('data/aotinductor/model/a.wrapper.cpp', {
        kind: 'source',
        language: 'cpp'
      }),
      file('archive_format', { text: '' })
    ],
    constants: [],
    metadata: { AOTI_DEVICE_KEY: 'cpu' },
    inputs: ['x: float32[s0, 16] cpu'],
    outputs: ['mul: float32[s0, 8] cpu'],
    dynamic: ['s0 at least 2'],
    build: ['g++ a.wrapper.cpp'],
    bytes: 5000,
    built: false,
    seconds: 2,
    parts: { export: 0.5, 'code generation': 1.5 },
    accurate: null,
    entries: [],
    problem: null,
    absent: { backward: 'The forward alone.' },
    state: 'Sources, not built',
    results: '',
    ...change
  };
}

/** A report with the code of a package and of a C++ wrapper. */
function withCode() {
  const artifact = (name: string) => ({
    name,
    label: name,
    group: 'code' as const,
    language: 'cpp',
    lines: 1,
    forms: [],
    configs: []
  });
  return report('f', {
    variants: [
      {
        ...variantSummary('cpp'),
        compilations: [
          compilationSummary({
            artifacts: [artifact('cpp'), artifact('aot')]
          })
        ]
      }
    ]
  });
}

describe('PackageBody', () => {
  let page: ReturnType<typeof stage>;
  let model: ViewModel;
  let context: ReturnType<typeof contextOf>;
  const origin = {};

  beforeEach(() => {
    page = stage();
    model = new ViewModel();
    model.variant = 'cpp';
    context = contextOf(model);
  });

  afterEach(() => page.remove());

  function show(variant: Partial<VariantReport>) {
    page.draw(
      <PackageBody
        variant={variantReport('cpp', variant)}
        context={context}
        origin={origin}
      />
    );
  }

  it('has a package made, also of a variant that is not built', () => {
    show({ stage: 'sources' });
    expect(page.text()).toContain('Nothing was compiled ahead of time');
    page.click(page.button('Generate the sources'));
    expect(model.startStudies).toHaveBeenCalledWith(['package'], ['cpp']);
    page.click(page.button('Build and time'));
    expect(model.startStudies).toHaveBeenLastCalledWith(['aot'], ['cpp']);
  });

  it('builds no other variant where this one has no code', () => {
    show({ stage: 'failed' });
    expect(page.text()).toContain('This variant has no code.');
    for (const label of ['Generate the sources', 'Build and time']) {
      expect(page.button(label)).toHaveProperty('disabled', true);
    }
  });

  it('offers nothing that a report from a file cannot do', () => {
    model.isLive = false;
    show({ absent: { package: 'The backend has no such thing.' } });
    expect(page.text()).toContain('The backend has no such thing.');
    expect(page.all('button')).toEqual([]);
  });

  it('says what it is, what goes in and what may change', () => {
    show({ package: packageOf() });
    for (const part of [
      'Sources, not built',
      'Created in 2',
      'The forward alone.',
      'x: float32[s0, 16] cpu',
      's0 at least 2',
      'g++ a.wrapper.cpp'
    ]) {
      expect(page.text()).toContain(part);
    }
  });

  it('opens the code beside the wrapper, where it is entered', async () => {
    model.getArtifact.mockResolvedValue({
      regions: [{ kind: 'entry', start: 700 }]
    });
    model.report = withCode();
    show({ package: packageOf() });
    page.click(page.button('Show its C++'));
    await act(() => Promise.resolve());
    expect(model.select).toHaveBeenCalledWith({
      text: {
        variant: 'cpp',
        compilation: '0/0',
        artifact: 'aot',
        line: 700,
        beside: 'cpp'
      },
      origin
    });
    expect(context.open).toHaveBeenCalledWith('code');
  });

  it('says why the code could not be fetched', async () => {
    model.report = withCode();
    model.getArtifact.mockRejectedValue(new Error('The kernel is gone.'));
    show({ package: packageOf() });
    page.click(page.button('Show its C++'));
    await act(() => Promise.resolve());
    expect(page.text()).toContain('The kernel is gone.');
    expect(context.open).not.toHaveBeenCalled();
  });

  it('lists the ways to call it, and why one has no time', () => {
    show({
      package: packageOf({
        built: true,
        accurate: true,
        results: 'same results as eager',
        entries: [
          { name: 'eager', timing: timing({ median_us: 30 }), why: '' },
          {
            name: 'standalone',
            timing: timing({
              median_us: 10,
              ratio: 3,
              interval: '3 samples: min–max 9.00–11.0 µs'
            }),
            why: ''
          },
          { name: 'in process', timing: null, why: 'It does not build.' }
        ]
      })
    });
    expect(page.text()).toContain('✓ same results as eager');
    const rows = page.all('tbody tr').map(element => element.textContent);
    expect(rows[1]).toContain('10.0 µs');
    expect(rows[1]).toContain('3 samples: min–max 9.00–11.0 µs');
    expect(rows[1]).toContain('3.00×');
    expect(rows[2]).toContain('It does not build.');
  });

  it('says why a subject was refused', () => {
    show({
      package: packageOf({
        files: [],
        constants: [],
        inputs: [],
        outputs: [],
        metadata: {},
        build: [],
        problem: {
          severity: 'error',
          what: 'torch.export refuses the subject.',
          why: 'Data-dependent branching.',
          remedy: 'Use torch.where.',
          where: null,
          detail: '',
          facts: {}
        }
      })
    });
    expect(page.text()).toContain('Data-dependent branching.');
    expect(page.text()).not.toContain('Sources, not built');
  });

  it('shows a file’s text when it is asked for', async () => {
    model.getArtifact.mockResolvedValue({ text: 'pt2' });
    show({ package: packageOf() });
    expect(page.all('.jp-mod-files button')).toHaveLength(1);
    page.click(page.button('archive_format'));
    await act(() => Promise.resolve());
    expect(model.getArtifact).toHaveBeenCalledWith(
      'cpp',
      '0/0',
      'package:archive_format'
    );
    expect(page.text()).toContain('pt2');
  });

  it('shows names as text', () => {
    show({
      package: packageOf({
        files: [file(HOSTILE)],
        inputs: [HOSTILE],
        metadata: { [HOSTILE]: HOSTILE },
        constants: [
          {
            name: HOSTILE,
            original: HOSTILE,
            dtype: 'float32',
            shape: [2, 3],
            bytes: 24,
            folded: true
          }
        ]
      })
    });
    expect(page.all('img')).toEqual([]);
    expect(page.text()).toContain('2 × 3');
  });
});

describe('shorten', () => {
  it('cuts folders and hashes', () => {
    expect(
      shorten(
        'data/aotinductor/model/cge3whlmtmyoie7xgiue3xink3lliqlu2v5nc5rgln5fh3ar2v7u.wrapper.cpp'
      )
    ).toBe('cge3whlm….wrapper.cpp');
    expect(shorten('archive_format')).toBe('archive_format');
  });
});
