import * as React from 'react';
import { RanksBody } from '../../../src/panels/ranks/body';
import { CudaGraphsSection } from '../../../src/panels/requested/cudaGraphs';
import type {
  Collective,
  CudaGraphs,
  Rank,
  RankDifference
} from '../../../src/protocol/types';
import { subjectSummary } from '../support/fakes';
import { variantReport } from '../support/structs';
import { contextOf, HOSTILE, stage, ViewModel } from '../support/views';

const COLLECTIVE: Collective = {
  operator: '_c10d_functional.all_reduce_.default',
  name: 'all_reduce_',
  compilation: '0/0',
  variant: 'cpp',
  direction: 'backward',
  node: 'all_reduce',
  group: '0',
  reduction: 'sum',
  outside: false,
  bytes: 2048,
  shape: ['16', '32'],
  dtype: 'float32',
  line: 34,
  waited: 51,
  between: 2,
  sources: [{ file: 'train.py', line: 7, function: 'f', code: '' }]
};

const DIFFERENCE: RankDifference = {
  what: 'cpp: guards of 0/0',
  kind: 'guards',
  here: `L['x'] == 1 ${HOSTILE}`,
  there: "L['x'] == 2",
  other: 1,
  serious: false,
  why: '',
  where: null
};

const RANK: Rank = {
  rank: 0,
  size: 2,
  backend: 'gloo',
  device: 'cpu',
  collectives: [COLLECTIVE],
  differences: [
    {
      ...DIFFERENCE,
      what: 'cpp: collective 1',
      kind: 'collectives',
      serious: true,
      why: 'This hangs.'
    },
    DIFFERENCE
  ],
  same: false,
  group: 'run',
  title: 'Rank 0 of 2, gloo on cpu',
  outcome: '2 differences from other ranks, 1 may hang or corrupt data'
};

describe('RanksBody', () => {
  let place: ReturnType<typeof stage>;
  let model: ViewModel;

  beforeEach(() => {
    place = stage();
    model = new ViewModel();
  });

  afterEach(() => place.remove());

  const draw = (rank: Rank) =>
    place.draw(
      <RanksBody rank={rank} context={contextOf(model)} origin={model} />
    );

  it('marks what may hang, and shows all as text', () => {
    draw(RANK);
    const rows = place.all('.jp-Compilescope-rankDifferences > li');
    expect(rows.map(row => row.querySelector('strong')?.textContent)).toEqual([
      'cpp: collective 1',
      'cpp: guards of 0/0'
    ]);
    expect(rows[0].textContent).toContain('may hang or corrupt data');
    expect(rows[1].textContent).toContain(HOSTILE);
    expect(place.all('img')).toHaveLength(0);
  });

  it('leads from a collective to the line that waits for it', () => {
    draw(RANK);
    const row = place.all('.jp-Compilescope-collectives tbody tr')[0];
    expect(row.textContent).toContain('all_reduce_ sum0/0 backward');
    expect(row.textContent).toContain('float32[16, 32]');
    place.click(row.querySelectorAll('button')[1]);
    expect(model.select).toHaveBeenCalledWith({
      text: expect.objectContaining({ variant: 'cpp', line: 51 })
    });
  });

  it('lists the ranks of its run, and says that the code is the same', () => {
    const ranks = [0, 1].map(rank => ({
      ...subjectSummary(`run-${rank}`),
      group: 'run',
      rank,
      ranks: 2
    }));
    model.subjects = [...ranks, subjectSummary('other')];
    const same = { ...RANK, differences: [], collectives: [], same: true };
    draw({ ...same, title: 'Rank 0 of 2, gloo', outcome: 'Same code' });
    expect(
      place
        .all('.jp-Compilescope-ranksRun button')
        .map(element => element.textContent)
    ).toEqual(['rank 0', 'rank 1']);
    const text = () => place.all('.jp-Compilescope-body')[0].textContent;
    expect(text()).toContain('Rank 0 of 2, gloo');
    expect(text()).toContain('Differences between the ranksSame code');
    draw({ ...same, title: '', outcome: '' });
    expect(text()).toContain('Rank 0 of 2');
  });
});

describe('CudaGraphsSection', () => {
  let place: ReturnType<typeof stage>;

  beforeEach(() => {
    place = stage();
  });

  afterEach(() => place.remove());

  const GRAPHS: CudaGraphs = {
    outcome: 'skipped',
    why: 'graph partition',
    captured: 0,
    replayed: 0,
    re_recorded: 0,
    calls: 0,
    skips: [
      {
        reason: 'graph partition',
        compilation: '0/0',
        meaning: 'It is not generated in parts.',
        remedy: 'Have it captured as a whole.',
        setting: 'torch._inductor.config.graph_partition = False',
        where: null
      }
    ],
    partitions: [],
    memory_bytes: null,
    how: 'By rule.',
    words: 'not captured',
    counts: ''
  };

  const draw = (cuda_graphs: CudaGraphs | null) =>
    place.draw(
      <CudaGraphsSection
        variants={[variantReport('cpp', { cuda_graphs })]}
        context={contextOf(new ViewModel())}
      />
    );

  it('says why there is none, and the one setting that has it captured', () => {
    draw(GRAPHS);
    const text = place.all('.jp-Compilescope-cudaGraph')[0].textContent;
    expect(text).toContain('not captured');
    expect(text).toContain('It is not generated in parts.');
    expect(text).toContain('torch._inductor.config.graph_partition = False');
  });

  it("shows the report's words for the outcome, the counts and the parts", () => {
    draw({
      ...GRAPHS,
      outcome: 'partly',
      skips: [],
      partitions: [
        {
          name: 'partition_0',
          captured: true,
          compilation: '0/0',
          kernels: 3,
          why: '',
          words: 'captured, 3 launches'
        }
      ],
      words: 'captured in part',
      counts: 'in 4 calls: 1 recorded'
    });
    const text = place.all('article')[0].textContent;
    expect(text).toContain('captured in part');
    expect(text).toContain('in 4 calls: 1 recorded');
    expect(text).toContain('0/0 partition_0 captured, 3 launches');
  });

  it('is not there where nobody asked', () => {
    draw({ ...GRAPHS, outcome: 'not asked' });
    expect(place.all('section')).toHaveLength(0);
    draw(null);
    expect(place.all('section')).toHaveLength(0);
  });
});
