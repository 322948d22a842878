import {
  onKey,
  onWheel
} from '../../../../src/panels/compile-time/timeline/gestures';
import {
  areFarApart,
  rank,
  spanAt,
  walk,
  waterfall,
  type ILane
} from '../../../../src/panels/compile-time/timeline/lanes';
import {
  kindTime,
  runTimes
} from '../../../../src/panels/compile-time/kindTimes';
import { layOut } from '../../../../src/panels/compile-time/timeline/spans';
import { chromeTrace } from '../../../../src/panels/compile-time/chromeTrace';
import * as viewport from '../../../../src/panels/compile-time/timeline/viewport';
import type { Phase } from '../../../../src/protocol/types';
import { fullCompilation, variantReport } from '../../support/structs';

function phase(
  name: string,
  start_us: number,
  duration_us: number,
  children: Phase[] = [],
  change: Partial<Phase> = {}
): Phase {
  return {
    name,
    start_us,
    duration_us,
    children,
    kind: 'dynamo',
    track: 0,
    detail: '',
    self_us: duration_us,
    ...change
  };
}

/** A compile of 1,000 µs: half of it the C++ compiler, Triton alongside. */
const TREE = [
  phase('compile', 100, 1000, [
    phase('trace', 100, 200),
    phase('inductor', 300, 700, [
      phase('g++', 400, 500, [], { kind: 'cpp_build', detail: 'main.cpp' }),
      phase('triton', 350, 600, [phase('ptxas', 400, 100, [], { track: 1 })], {
        kind: 'triton',
        track: 1
      })
    ])
  ])
];

describe('layOut', () => {
  it('gives each depth a row and each track rows of its own', () => {
    const flame = layOut(TREE, 100);
    expect(flame.main).toBe(0);
    expect(flame.end).toBe(1000);
    expect(flame.rows).toBe(5);
    const rows = flame.spans.map(({ name, row, level }) => [name, row, level]);
    expect(rows).toEqual([
      ['compile', 0, 0],
      ['trace', 1, 1],
      ['inductor', 1, 1],
      ['triton', 3, 2],
      ['ptxas', 4, 3],
      ['g++', 2, 2]
    ]);
    expect(flame.bands).toEqual([
      { track: 0, row: 0, rows: 3 },
      { track: 1, row: 3, rows: 2 }
    ]);
  });

  it('keeps children inside', () => {
    const { spans } = layOut([
      phase('all', 0, 100, [phase('late', 90, 10.004)])
    ]);
    expect(spans[1].duration).toBe(10);
  });

  it('hides nothing where spans of a track overlap', () => {
    const flame = layOut([
      phase('a', 0, 100, [phase('a1', 0, 50)]),
      phase('b', 50, 100),
      phase('c', 100, 10)
    ]);
    const rows = flame.spans.map(({ name, row }) => [name, row]);
    expect(rows).toEqual([
      ['a', 0],
      ['a1', 1],
      ['b', 2],
      ['c', 0]
    ]);
    expect(flame.bands).toHaveLength(2);
  });

  it('takes phases that nest ten thousand deep', () => {
    let deep = phase('leaf', 0, 1);
    for (let depth = 0; depth < 10_000; depth++) {
      deep = phase(`p${depth}`, 0, 1, [deep]);
    }
    expect(layOut([deep]).rows).toBe(10_001);
  });
});

describe('runTimes', () => {
  const time = (kind: string, self_us: number, parallel_us = 0) => ({
    kind,
    self_us,
    parallel_us
  });
  const shown = [
    fullCompilation({
      phase_times: [time('dynamo', 300), time('cpp_build', 500, 100)],
      warm_phase_times: [time('cache', 50)]
    }),
    fullCompilation({ id: '0/1', phase_times: [time('cpp_build', 200)] })
  ];

  it('takes the first call from the report', () => {
    const kinds = [time('dynamo', 400)];
    const variant = variantReport('python', {
      compile_time: {
        total_s: 1e-3,
        parts: {},
        cold: true,
        kinds,
        outside_s: 6e-4
      }
    });
    const whole = { run: 'cold', kinds, whole: 1000, outside: 600 };
    expect(runTimes('cold', variant, shown, true)).toEqual(whole);
    expect(runTimes('cold', variant, shown, false).whole).toBe(1000);
    expect(runTimes('cold', variant, shown, false).outside).toBe(0);
  });

  it('adds up the shown compilations', () => {
    const times = runTimes('cold', variantReport('python'), shown, true);
    expect(times.kinds).toEqual([
      time('dynamo', 300),
      time('cpp_build', 700, 100)
    ]);
    expect(times.whole).toBe(1000);
    expect(kindTime(times, 'cache')).toEqual(time('cache', 0));
    const warm = runTimes('warm', variantReport('python'), shown, true);
    expect(warm.kinds).toEqual([time('cache', 50)]);
  });
});

describe('waterfall', () => {
  const compilations = [
    { id: '0/0', phases: TREE, warm_phases: [phase('compile', 7, 50)] },
    { id: '0/1', phases: [phase('compile', 5000, 500)], warm_phases: [] }
  ];

  it('puts compilations on one axis, cold and warm from 0', () => {
    const chart = waterfall(compilations, ['cold', 'warm'], 'time');
    expect(chart.lanes.map(({ id, run }) => [id, run])).toEqual([
      ['0/0', 'cold'],
      ['0/0', 'warm'],
      ['0/1', 'cold']
    ]);
    expect(chart.lanes.map(lane => lane.flame.spans[0].start)).toEqual([
      0, 0, 4900
    ]);
    expect(chart.total).toBe(5400);
  });

  it('can start all compilations at 0', () => {
    const chart = waterfall(compilations, ['cold'], 'start');
    expect(chart.total).toBe(1000);
  });

  it('tells compilations that are far apart', () => {
    expect(areFarApart(compilations)).toBe(false);
    expect(
      areFarApart([compilations[0], { phases: [phase('late', 1e6, 10)] }])
    ).toBe(true);
    expect(areFarApart([])).toBe(false);
  });

  it('is walked by parent, child and sibling', () => {
    const chart = waterfall(compilations, ['cold', 'warm'], 'time');
    const name = (place: ReturnType<typeof walk>) => spanAt(chart, place)?.name;
    let place = walk(chart, null, 'next');
    expect(name(place)).toBe('compile');
    place = walk(chart, place, 'child');
    expect(name(place)).toBe('trace');
    expect(walk(chart, place, 'previous')).toBe(place);
    place = walk(chart, place, 'next');
    expect(name(place)).toBe('inductor');
    expect(rank(chart, place!)).toEqual({ position: 2, size: 2 });
    expect(walk(chart, place, 'next')).toBe(place);
    place = walk(chart, place, 'parent');
    expect(name(place)).toBe('compile');
    expect(walk(chart, place, 'parent')).toBe(place);
    place = walk(chart, place, 'next');
    expect(place).toEqual({ lane: 1, span: 0 });
    expect(walk(chart, place, 'previous')).toEqual({ lane: 0, span: 0 });
    expect(walk(chart, place, 'last')).toEqual({ lane: 2, span: 0 });
  });
});

describe('viewport', () => {
  const whole = { start: 0, end: 1000 };

  it('zooms around a moment and stops at the ends', () => {
    const closer = viewport.zoom(whole, 0.5, 200, 1000);
    expect(closer).toEqual({ start: 100, end: 600 });
    expect(viewport.zoom(closer, 100, 200, 1000)).toEqual(whole);
    const closest = viewport.zoom(whole, 1e-9, 200, 1000);
    expect(closest.end - closest.start).toBeCloseTo(1);
  });

  it('pans up to the ends', () => {
    const window = { start: 100, end: 600 };
    expect(viewport.pan(window, 100, 1000)).toEqual({ start: 200, end: 700 });
    expect(viewport.pan(window, 9999, 1000)).toEqual({ start: 500, end: 1000 });
    expect(viewport.pan(window, -9999, 1000)).toEqual({ start: 0, end: 500 });
  });

  it('brings a span into sight only where it is not', () => {
    const window = { start: 100, end: 600 };
    expect(viewport.reveal(window, 200, 100, 1000, 0.01)).toBe(window);
    const moved = viewport.reveal(window, 700, 100, 1000, 0.01);
    expect(moved).toEqual({ start: 500, end: 1000 });
    const tiny = viewport.reveal(window, 300, 1, 1000, 0.01);
    expect(tiny.end - tiny.start).toBeCloseTo(1.1);
  });

  it('marks round moments', () => {
    const { at, step } = viewport.ticks({ start: 0, end: 2_400_000 }, 6);
    expect(step).toBe(500_000);
    expect(at.map(tick => viewport.tickLabel(tick, step))).toEqual([
      '0',
      '0.5 s',
      '1.0 s',
      '1.5 s',
      '2.0 s'
    ]);
    expect(viewport.tickLabel(1200, 100)).toBe('1.2 ms');
    expect(viewport.tickLabel(15, 5)).toBe('15 µs');
    expect(viewport.ticks({ start: 0, end: 0 }, 6).at).toEqual([]);
  });
});

describe('gestures', () => {
  const window = { start: 100, end: 200 };
  const wheel = { deltaX: 0, deltaY: 0, deltaMode: 0, shiftKey: false };
  const plain = { ...wheel, ctrlKey: false, metaKey: false };

  it('zoom with the wheel and Ctrl around the pointer', () => {
    const turn = { ...plain, ctrlKey: true, deltaY: -100 };
    expect(onWheel(turn, window, 0.5, 800, 1000)).toEqual({
      start: 112.5,
      end: 187.5
    });
  });

  it('pan sideways, and leave scrolling to the page', () => {
    const across = onWheel({ ...plain, deltaX: 80 }, window, 0, 800, 1000);
    expect(across).toEqual({ start: 110, end: 210 });
    const shift = { ...plain, shiftKey: true, deltaY: 80 };
    expect(onWheel(shift, window, 0, 800, 1000)).toEqual(across);
    expect(onWheel({ ...plain, deltaY: 80 }, window, 0, 800, 1000)).toBeNull();
  });

  it('take keys', () => {
    expect(onKey('+', window, 100, 1000)).toEqual({ start: 100, end: 175 });
    expect(onKey('a', window, 0, 1000)).toEqual({ start: 80, end: 180 });
    expect(onKey('0', window, 0, 1000)).toEqual({ start: 0, end: 1000 });
    expect(onKey('x', window, 0, 1000)).toBeNull();
  });
});

describe('chromeTrace', () => {
  const names = {
    run: { cold: 'python, cold', warm: 'python, warm', later: 'python, later' },
    track: (
      { id, of, run }: Pick<ILane, 'id' | 'of' | 'run'>,
      track: number,
      main: boolean
    ) => [id, of, run, main ? 'main' : track].join(' ')
  };
  const trace = chromeTrace(
    [
      fullCompilation({
        phases: TREE,
        warm_phases: [phase('<b>compile</b>', 9, 50)],
        cache: [
          { cache: 'fx_graph', outcome: 'miss', key: 'abc', detail: 'long' }
        ]
      }),
      fullCompilation({ id: '0/1', phases: [phase('again', 2000, 10)] })
    ],
    [
      {
        compilation: '0/0',
        first: [
          phase('k', 1050, 40, [], { kind: 'compile', track: 1 }),
          phase('k', 1090, 7, [], { kind: 'first_run', detail: 'first run' })
        ],
        later: [phase('k', 0, 3, [], { kind: 'later_run' })]
      },
      { compilation: '0/7', first: [phase('other', 1, 1)], later: [] },
      {
        compilation: '',
        first: [phase('whose', 1095, 4, [], { kind: 'first_run' })],
        later: []
      }
    ],
    { torch: '2.13.0' },
    names
  );
  const spans = trace.traceEvents.filter(event => event.ph === 'X');

  it('holds what the format asks for', () => {
    for (const event of trace.traceEvents) {
      expect(Number.isInteger(event.pid) && Number.isInteger(event.tid)).toBe(
        true
      );
      expect(typeof event.name).toBe('string');
      if (event.ph === 'X') {
        expect(event.ts).toBeGreaterThanOrEqual(0);
        expect(event.dur).toBeGreaterThanOrEqual(0);
      } else {
        expect(event.ph).toBe('M');
      }
    }
    expect(JSON.parse(JSON.stringify(trace))).toEqual(trace);
    expect(trace.otherData).toMatchObject({
      torch: '2.13.0',
      caches: [
        { compile_id: '0/0', cold: [{ cache: 'fx_graph', outcome: 'miss' }] },
        { compile_id: '0/1', cold: [], warm: [] }
      ]
    });
  });

  it('names each process and thread once', () => {
    const named = trace.traceEvents
      .filter(({ name }) => /^(process|thread)_name$/.test(name))
      .map(({ pid, tid, args }) => [pid, tid, args.name]);
    expect(named).toEqual([
      [1, 0, 'python, cold'],
      [1, 1, '0/0 phases cold main'],
      [1, 2, '0/0 phases cold 1'],
      [1, 3, '0/0 kernels cold 1'],
      [1, 4, '0/0 kernels cold main'],
      [1, 5, '0/1 phases cold main'],
      [1, 6, ' kernels cold main'],
      [2, 0, 'python, warm'],
      [2, 1, '0/0 phases warm main'],
      [3, 0, 'python, later'],
      [3, 1, '0/0 kernels later main']
    ]);
  });

  it('holds what kernels did, in threads of their own', () => {
    const own = spans.filter(({ cat }) => /^(compile|.*_run)$/.test(cat!));
    expect(
      own.map(({ pid, tid, name, ts, dur, args }) => [
        ...[pid, tid, name, ts, dur],
        args.compile_id
      ])
    ).toEqual([
      [1, 3, 'k', 950, 40, '0/0'],
      [1, 4, 'k', 990, 7, '0/0'],
      [1, 6, 'whose', 995, 4, undefined],
      [3, 1, 'k', 0, 3, '0/0']
    ]);
  });

  it('keeps nesting and durations', () => {
    const gxx = spans.find(({ name }) => name === 'g++')!;
    expect(gxx).toMatchObject({
      ts: 300,
      dur: 500,
      cat: 'cpp_build',
      args: { compile_id: '0/0', self_us: 500, detail: 'main.cpp' }
    });
    expect(spans.find(({ pid }) => pid === 2)).toMatchObject({
      name: '<b>compile</b>',
      ts: 0,
      dur: 50
    });
    const end = (event: (typeof spans)[number]) => event.ts! + event.dur!;
    for (const a of spans) {
      for (const b of spans) {
        if (a !== b && a.pid === b.pid && a.tid === b.tid) {
          const apart = end(a) <= b.ts! || end(b) <= a.ts!;
          const nested =
            (a.ts! <= b.ts! && end(b) <= end(a)) ||
            (b.ts! <= a.ts! && end(a) <= end(b));
          expect(apart || nested).toBe(true);
        }
      }
    }
  });
});
