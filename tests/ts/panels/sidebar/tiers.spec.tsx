import { nullTranslator } from '@jupyterlab/translation';
import * as React from 'react';
import { withGraph } from '../../../../src/protocol/state';
import { stateOf } from '../../../../src/panels/sidebar/state';
import { Tiers } from '../../../../src/panels/sidebar/tiers';
import type { ISidebarActions } from '../../../../src/panels/sidebar/types';
import type { GraphTiers, Tier } from '../../../../src/protocol/types';
import { stage } from '../../support/views';

const trans = nullTranslator.load('jupyterlab_compilescope');

function tier(name: Tier['name'], change: Partial<Tier> = {}): Tier {
  return {
    name,
    state: 'serves',
    seconds: 1.5,
    load_s: null,
    cached: false,
    why: '',
    problem: null,
    swapped_s: null,
    gain: null,
    pool_bytes: null,
    ...change
  };
}

function graph(change: Partial<GraphTiers> = {}): GraphTiers {
  return {
    compilation: '0/0',
    kind: 'inference',
    serving: 'python',
    tiers: [tier('python'), tier('cpp', { state: 'builds', seconds: null })],
    swapped_s: null,
    number: 1,
    pinned: false,
    pinned_to: null,
    shared: false,
    lines: [],
    ...change
  };
}

describe('tiers in the sidebar', () => {
  let page: ReturnType<typeof stage>;
  const pinTier = jest.fn();

  function open(...tiers: GraphTiers[]): void {
    page = stage();
    page.draw(
      <Tiers
        state={{ ...stateOf(null), status: { kind: 'ready' }, tiers }}
        actions={{ pinTier } as unknown as ISidebarActions}
        trans={trans}
      />
    );
  }

  afterEach(() => page.remove());

  it('are not there where nothing was compiled in tiers', () => {
    open();
    expect(page.host.innerHTML).toBe('');
  });

  it('say which wrapper serves, and the kernel’s sentences', () => {
    const lines = ['Python wrapper: compiled in 1.5 s', 'C++ wrapper: failed'];
    open(graph({ lines: [...lines, 'No g++.'] }));
    const [row] = page.all('li');
    expect(row.textContent).toContain('served by the Python wrapper');
    const hints = page.all('li > p').map(hint => hint.textContent);
    expect(hints).toEqual([...lines, 'No g++.']);
  });

  it('can be pinned', () => {
    open(graph({ number: 4 }));
    const [toggle] = page.all('input');
    expect(toggle.getAttribute('aria-label')).toBe(
      'Pin 0/0 inference to the Python wrapper'
    );
    page.click(toggle);
    expect(pinTier).toHaveBeenCalledWith(4, true, 'python');
  });

  it('of a file cannot be pinned', () => {
    page = stage();
    page.draw(
      <Tiers
        state={{
          ...stateOf(null),
          isLive: false,
          status: { kind: 'ready' },
          tiers: [graph({ pinned: true, pinned_to: 'python' })]
        }}
        actions={{ pinTier } as unknown as ISidebarActions}
        trans={trans}
      />
    );
    const [toggle] = page.all('input');
    expect(toggle.getAttribute('aria-checked')).toBe('true');
    expect(toggle.hasAttribute('disabled')).toBe(true);
  });

  it('show CUDA graphs only where they were asked for', () => {
    const tiers = [
      tier('python', { state: 'replaced' }),
      tier('cpp', { state: 'replaced' })
    ];
    open(
      graph({ number: 1, tiers }),
      graph({
        number: 2,
        serving: 'cuda_graphs',
        tiers: [...tiers, tier('cuda_graphs')]
      }),
      graph({
        number: 3,
        serving: 'cpp',
        pinned: true,
        pinned_to: 'cpp',
        tiers: [...tiers, tier('cuda_graphs', { state: 'checked' })]
      })
    );
    const rows = page.all('li').map(element => element.textContent ?? '');
    expect(rows[0]).not.toContain('CUDA graphs');
    expect(rows[1]).toContain('served by CUDA graphs');
    const toggles = page.all('input');
    expect(
      toggles.map(element => [
        element.getAttribute('aria-label'),
        element.getAttribute('aria-checked')
      ])
    ).toContainEqual(['Pin 0/0 inference to the C++ wrapper', 'true']);
    page.click(toggles[2]);
    expect(pinTier).toHaveBeenLastCalledWith(2, true, 'cpp');
  });

  it('take the news of one graph into the list', () => {
    const known = [graph(), graph({ number: 3 })];
    const news = graph({ number: 2 });
    expect(withGraph(known, news).map(({ number }) => number)).toEqual([
      1, 2, 3
    ]);
    expect(withGraph(known, graph({ serving: 'cpp' }))[0].serving).toBe('cpp');
  });
});
