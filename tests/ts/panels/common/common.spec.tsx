import { Widget } from '@lumino/widgets';
import * as React from 'react';
import { act } from 'react';
import type {
  IColumn,
  IEmpty,
  IShown,
  Sort
} from '../../../../src/panels/common';
import {
  Prose,
  ReportView,
  sorted,
  useLoaded,
  VirtualTable
} from '../../../../src/panels/common';
import { formatNanoseconds } from '../../../../src/words/format';
import { problem, RequestError } from '../../../../src/protocol/client';
import { job, report, variantSummary } from '../../support/fakes';
import {
  contextOf,
  drawn,
  HOSTILE,
  stage,
  ViewModel
} from '../../support/views';

/**
 * A view of a text, whose answers are the test's.
 */
class TextView extends ReportView<string> {
  asked: {
    shown: IShown;
    resolve: (text: string) => void;
    reject: (e: Error) => void;
  }[] = [];
  empty: IEmpty | null = null;

  constructor(readonly viewModel: ViewModel) {
    super(contextOf(viewModel), { name: 'text', label: 'Text' });
  }

  protected load(shown: IShown): Promise<string> {
    return new Promise((resolve, reject) =>
      this.asked.push({ shown, resolve, reject })
    );
  }

  protected override whyEmpty(): IEmpty | null {
    return this.empty;
  }

  protected present(text: string): JSX.Element {
    return <p>{text}</p>;
  }
}

describe('ReportView', () => {
  let model: ViewModel;
  let view: TextView;

  beforeEach(async () => {
    (globalThis as Record<string, unknown>).IS_REACT_ACT_ENVIRONMENT = true;
    model = new ViewModel();
    view = new TextView(model);
    act(() => Widget.attach(view, document.body));
    await drawn();
  });

  afterEach(() => {
    act(() => view.dispose());
  });

  const text = () => view.node.textContent;
  const turnTo = async (compilation: string) => {
    model.compilation = compilation;
    model.compilationChanged.emit();
    await drawn();
  };

  it('says that it loads, then shows', async () => {
    expect(view.node.querySelector('[role=status]')).not.toBeNull();
    view.asked[0].resolve('here');
    await drawn();
    expect(text()).toBe('here');
    expect(view.asked[0].shown).toEqual({
      subject: 'f',
      variant: 'python',
      compilation: '0/0'
    });
  });

  it('drops an answer that comes too late', async () => {
    await turnTo('0/1');
    view.asked[1].resolve('new');
    await drawn();
    view.asked[0].resolve('old');
    await drawn();
    expect(text()).toBe('new');
  });

  it('asks once for one revision, and keeps what it shows until the next', async () => {
    view.asked[0].resolve('first');
    await drawn();
    model.reportChanged.emit();
    await drawn();
    expect(view.asked).toHaveLength(1);
    model.report = report('f', { revision: 2 });
    model.reportChanged.emit();
    await drawn();
    expect(text()).toBe('first');
    view.asked[1].resolve('second');
    await drawn();
    expect(text()).toBe('second');
  });

  it('does nothing while it is hidden', async () => {
    view.hide();
    await turnTo('0/1');
    model.report = report('f', { revision: 2 });
    model.reportChanged.emit();
    await drawn();
    expect(view.asked).toHaveLength(1);
    view.show();
    await drawn();
    expect(view.asked).toHaveLength(2);
    expect(view.asked[1].shown.compilation).toBe('0/1');
  });

  it('shows an error with its remedy, and tries again', async () => {
    view.asked[0].reject(
      new RequestError(problem({ what: 'silence', remedy: 'restart' }), 'reply')
    );
    await drawn();
    expect(view.node.querySelector('[role=alert]')!.textContent).toContain(
      'restart'
    );
    await act(async () => view.node.querySelector('button')!.click());
    await drawn();
    view.asked[1].resolve('here');
    await drawn();
    expect(text()).toBe('here');
  });

  it('says why there is nothing in what came', async () => {
    view.empty = { what: 'none', why: 'because', remedy: 'do' };
    view.asked[0].resolve('');
    await drawn();
    expect(text()).toBe('nonebecausedo');
  });

  it.each([
    ['ready', [], 'Nothing inspected yet'],
    ['ready', [{}], 'Loading the report'],
    ['busy', [], 'Kernel busy, queued'],
    ['missing', [], 'No report to show']
  ])('without a report, %s: %#', async (kind, subjects, expected) => {
    model.report = null;
    model.status = { kind };
    model.subjects = subjects;
    model.statusChanged.emit();
    await drawn();
    expect(text()).toContain(expected);
  });

  it('spins for as long as the job runs, and says since when', async () => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    model.report = report('f', { variants: [] });
    model.job = job({ state: 'running' });
    model.jobSince = Date.now() - 64_000;
    model.reportChanged.emit();
    await drawn();
    expect(text()).toBe('Generating code…1 min 04 s');
    await act(async () => {
      jest.advanceTimersByTime(2000);
    });
    expect(text()).toBe('Generating code…1 min 06 s');
    jest.useRealTimers();
    model.job = job({ state: 'cancelled' });
    model.jobChanged.emit();
    await drawn();
    expect(text()).toContain('No code was generated');
    expect(text()).toContain('Resume');
  });

  it('says what kept a variant from being compiled', async () => {
    const failure = problem({ what: 'fullgraph met a break' });
    model.compilation = '';
    model.report = report('f', {
      variants: [
        variantSummary('python', {}, { compilations: [], problems: [failure] })
      ]
    });
    model.reportChanged.emit();
    await drawn();
    expect(text()).toContain('fullgraph met a break');
  });
});

describe('VirtualTable', () => {
  interface IRow {
    name: string;
    size: number;
  }
  const columns: IColumn<IRow>[] = [
    {
      id: 'name',
      label: 'Name',
      width: '1fr',
      render: row => row.name,
      compare: (a, b) => a.name.localeCompare(b.name)
    },
    {
      id: 'size',
      label: 'Size',
      width: '80px',
      isNumber: true,
      render: row => row.size,
      compare: (a, b) => a.size - b.size
    }
  ];
  const rows: IRow[] = Array.from({ length: 5000 }, (_, index) => ({
    name: `n${index}`,
    size: (index * 7) % 5000
  }));
  const onSort = jest.fn();
  const onSelect = jest.fn();
  let place: ReturnType<typeof stage>;
  let height: jest.SpyInstance;

  beforeEach(() => {
    height = jest
      .spyOn(Element.prototype, 'clientHeight', 'get')
      .mockReturnValue(480);
    place = stage();
    jest.clearAllMocks();
  });
  afterEach(() => {
    place.remove();
    height.mockRestore();
  });

  const draw = (sort: Sort, name = (row: IRow) => row.name) =>
    place.draw(
      <VirtualTable
        label="Rows"
        columns={[{ ...columns[0], render: name }, columns[1]]}
        rows={sorted(rows, columns, sort)}
        keyOf={row => row.name}
        sort={sort}
        onSort={onSort}
        onSelect={onSelect}
        trans={contextOf(new ViewModel()).trans}
      />
    );
  const texts = () =>
    place.all('.jp-Compilescope-tableRow').map(element => element.textContent);

  it('draws the rows in sight only, and says how many there are', () => {
    draw(null);
    expect(texts().length).toBeGreaterThan(10);
    expect(texts().length).toBeLessThan(60);
    const [grid] = place.all('[role=grid]');
    expect(grid.getAttribute('aria-rowcount')).toBe('5001');
  });

  it('sorts up, down and not at all', () => {
    draw({ column: 'size', down: true });
    expect(texts()[0]).toContain('4999');
    const header = place.all('[role=columnheader]')[1];
    expect(header.getAttribute('aria-sort')).toBe('descending');
    const button = header.querySelector('button')!;
    place.click(button);
    expect(onSort).toHaveBeenLastCalledWith({ column: 'size', down: false });
    draw({ column: 'size', down: false });
    place.click(button);
    expect(onSort).toHaveBeenLastCalledWith(null);
  });

  it('is walked by keys', () => {
    draw(null);
    const [grid] = place.all('[role=grid]');
    place.press(grid, 'ArrowDown');
    place.press(grid, 'ArrowDown');
    const active = grid.getAttribute('aria-activedescendant')!;
    expect(document.getElementById(active)!.textContent).toContain('n1');
    place.press(grid, 'Enter');
    expect(onSelect).toHaveBeenCalledWith(rows[1]);
  });

  it('shows text as text', () => {
    draw(null, () => HOSTILE);
    expect(place.all('img')).toEqual([]);
    expect(texts()[0]).toContain(HOSTILE);
  });
});

describe('useLoaded', () => {
  it('shows what was got until another of the same place is there', async () => {
    const page = stage();
    const answers = new Map<string, (text: string) => void>();
    function Text(props: { of: string; place?: string }): JSX.Element {
      const { of, place } = props;
      const load = () =>
        new Promise<string>(resolve => answers.set(of, resolve));
      const state = useLoaded(load, of, 'Loading…', place);
      return <p>{state.kind === 'data' ? state.data : state.kind}</p>;
    }
    const answer = (of: string) => act(async () => answers.get(of)!(of));
    page.draw(<Text of="a 1" place="a" />);
    await answer('a 1');
    page.draw(<Text of="a 2" place="a" />);
    expect(page.text()).toBe('a 1');
    await answer('a 2');
    expect(page.text()).toBe('a 2');
    page.draw(<Text of="b 2" place="b" />);
    expect(page.text()).toBe('loading');
    await answer('b 2');
    page.draw(<Text of="b 3" />);
    expect(page.text()).toBe('loading');
    page.remove();
  });
});

describe('small parts', () => {
  it('shows what is between backticks as code, and all of it as text', () => {
    const place = stage();
    place.draw(<Prose text={`Avoid \`print\` and \`${HOSTILE}\` here`} />);
    expect(place.all('code').map(element => element.textContent)).toEqual([
      'print',
      HOSTILE
    ]);
    expect(place.all('img')).toEqual([]);
    place.remove();
  });

  it('says nanoseconds with the digits that count', () => {
    expect([0, 7.26, 85.4, 1240].map(formatNanoseconds)).toEqual([
      '<1 ns',
      '7.3 ns',
      '85 ns',
      '1.24 µs'
    ]);
  });
});
