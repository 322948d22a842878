import * as React from 'react';
import { MemoryBody } from '../../../src/panels/memory/body';
import { linesOf, rowsOf } from '../../../src/panels/memory/rows';
import type { Buffer, Memory } from '../../../src/protocol/types';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

// Plotly does not draw here.
jest.mock('../../../src/charts/plot', () => ({
  Plot: class {
    show(): void {
      // Nothing to show it on.
    }
    dispose(): void {
      // Nothing was made.
    }
  }
}));

function buffer(name: string, change: Partial<Buffer> = {}): Buffer {
  return {
    name,
    title: '',
    kind: 'temporary',
    bytes: 1024,
    shape: ['16', '16'],
    stride: ['16', '1'],
    dtype: 'float32',
    device: 'cpu',
    born: 0,
    dies: 1,
    reuses: '',
    nodes: [],
    line: 10,
    ...change
  };
}

const MEMORY: Memory = {
  direction: 'inference',
  artifact: 'python',
  steps: ['cpp_fused_sin_0', 'extern_kernels.mm', 'cpp_fused_cos_1'],
  keys: ['launch:inference:#1', 'launch:inference:#2', 'launch:inference:#3'],
  live_bytes: [1024, 2048, 1024],
  buffers: [
    buffer('arg0_1', {
      kind: 'input',
      dies: 2,
      bytes: 2048,
      title: 'layers.0.weight'
    }),
    buffer('buf0'),
    buffer('buf1', { born: 1, dies: 1, bytes: 4096 }),
    buffer('buf2', {
      born: 2,
      dies: 2,
      bytes: 4096,
      kind: 'output',
      reuses: 'buf1',
      nodes: [HOSTILE]
    })
  ],
  peak_bytes: 2048,
  peak_module: '',
  peak_without_reuse_bytes: 4096,
  peak_unfused_bytes: 2048,
  assumed: { s0: 16 },
  how: 'Read from the wrapper.',
  peaks: [
    { title: 'Peak', text: '2.00 KiB', note: '' },
    { title: 'Without reuse', text: '4.00 KiB (50 % less now)', note: HOSTILE }
  ]
};

describe('rowsOf', () => {
  it('finds the memory and the launch of each buffer', () => {
    expect(rowsOf(MEMORY).map(({ home, key }) => [home, key])).toEqual([
      ['arg0_1', ''],
      ['buf0', 'launch:inference:#1'],
      ['buf1', 'launch:inference:#2'],
      ['buf1', 'launch:inference:#3']
    ]);
  });
});

describe('linesOf', () => {
  it('puts buffers that share memory in one line, and keeps the largest', () => {
    const names = (most: number) =>
      linesOf(rowsOf(MEMORY), most).map(line => [
        line.home,
        line.rows.map(row => row.buffer.name)
      ]);
    expect(names(9)).toEqual([
      ['buf0', ['buf0']],
      ['buf1', ['buf1', 'buf2']]
    ]);
    expect(names(1)).toEqual([['buf1', ['buf1', 'buf2']]]);
  });
});

describe('MemoryBody', () => {
  let page: ReturnType<typeof stage>;
  let model: ViewModel;

  beforeEach(() => {
    // jsdom lays nothing out: there would be room for no row.
    jest.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
    jest
      .spyOn(HTMLElement.prototype, 'offsetHeight', 'get')
      .mockReturnValue(600);
    page = stage();
    model = new ViewModel();
    const context = contextOf(model);
    page.draw(
      <MemoryBody
        memories={[
          MEMORY,
          { ...MEMORY, direction: 'backward', buffers: [] },
          { ...MEMORY, direction: 'backward' }
        ]}
        layouts={[
          {
            node: 'clone',
            title: '',
            direction: 'inference',
            old: '(1, 16)',
            new: '(16, 1)',
            bytes: 1024,
            why: 'A pass put it there.',
            inserted: true,
            kernel: '',
            sources: []
          }
        ]}
        shown={{ variant: 'python', compilation: '0/0' }}
        context={context}
        origin={page}
      />
    );
  });

  afterEach(() => {
    page.remove();
    jest.restoreAllMocks();
  });

  it('shows the peak, and what it would be without reuse', () => {
    const [summary] = page.all('.jp-Compilescope-memorySummary');
    expect(summary.textContent).toContain('Peak2.00 KiB');
    expect(summary.textContent).toContain(
      'Without reuse4.00 KiB (50 % less now)'
    );
    expect(summary.textContent).toContain('s0 = 16');
  });

  it('says what the colors of the drawn buffers mean', () => {
    const [legend] = page.all('.jp-Compilescope-memoryLegend');
    expect([...legend.children].map(element => element.textContent)).toEqual([
      'temporary',
      'output',
      'Where the shade changes, a buffer reuses the memory of another.'
    ]);
  });

  it('lists the largest buffers first, then the inputs by their names in the model', () => {
    const names = () =>
      page
        .all('.jp-Compilescope-tableRow > :first-child')
        .map(element => element.textContent);
    expect(names()).toEqual(['buf1', 'buf2', 'buf0', 'layers.0.weight']);
    page.click(page.all('[role=columnheader] button')[0]);
    expect(names().at(-1)).toBe('buf0');
  });

  it('takes names for text, and leads from a layout to its node', () => {
    expect(page.all('img')).toHaveLength(0);
    page.click(page.button('clone'));
    expect(model.selection.node).toEqual({ stage: 'post_grad', name: 'clone' });
  });

  it('numbers the graphs of each direction, and opens the text of the first', () => {
    const [select] = page.all('select');
    expect([...select.children].map(option => option.textContent)).toEqual([
      'inference',
      'backward',
      'backward 2'
    ]);
    const texts = (graph: string) => {
      page.choose(select, graph);
      const row = page.all('.jp-Compilescope-tableRow')[1];
      page.click(row);
      page.click(row);
      return model.selection.text?.artifact;
    };
    expect(texts('2')).toBeUndefined();
    expect(texts('0')).toBe('python');
  });

  it('has nothing of the other direction', () => {
    page.choose(page.all('select')[0], '1');
    expect(page.text()).toContain(
      'None: every value has the layout of the graph'
    );
  });
});
