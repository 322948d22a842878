import { FileConnection } from '../../../src/model/file';
import { SubjectModel } from '../../../src/model/subject';
import { completeSweep } from '../../../src/model/sweep';
import { NO_CHOICES } from '../../../src/model/variants';
import type { Report, Sweep } from '../../../src/protocol/types';
import {
  FakeConnection,
  report,
  settle,
  subjectSummary,
  variant
} from '../support/fakes';
import { cell, done, sweep } from '../support/swept';

const WAITING = [cell('python'), cell('cpp')];

describe('completeSweep', () => {
  it('puts what changed in its place', () => {
    const known = sweep(WAITING);
    const update = sweep([done('cpp', 20, 5)], { winner: 'key of cpp' });
    const whole = completeSweep(known, update)!;
    expect(whole.cells.map(({ state }) => state)).toEqual(['waiting', 'done']);
    expect(whole.winner).toBe('key of cpp');
  });

  it('tells shapes of one key apart', () => {
    const twin = { key: 'same', shape: 'b' };
    const known = sweep([cell('cpp', { key: 'same', shape: 'a' })]);
    const both = { ...known, cells: [...known.cells, cell('cpp', twin)] };
    const update = sweep([done('cpp', 20, 5, twin)]);
    expect(
      completeSweep(both, update)!.cells.map(({ state }) => state)
    ).toEqual(['waiting', 'done']);
  });

  it('takes nothing of another sweep', () => {
    expect(completeSweep(sweep(WAITING), sweep([], { id: 'x' }))).toBeNull();
    expect(completeSweep(null, sweep([]))).toBeNull();
  });
});

describe('The sweep of a model', () => {
  let connection: FakeConnection;
  let model: SubjectModel;

  beforeEach(async () => {
    connection = new FakeConnection();
    model = new SubjectModel();
    model.connection = connection;
    connection.event.emit({
      event: 'subjects_changed',
      data: { subjects: [subjectSummary('f')], focus: 'f', offer: null }
    });
    await connection.answer('get_report', report('f'));
  });

  afterEach(() => model.dispose());

  const push = (update: Sweep, subject = 'f') =>
    connection.event.emit({
      event: 'sweep_changed',
      data: { subject, sweep: update }
    });
  const answer = (command: 'get_sweep' | 'start_sweep', stored: Sweep | null) =>
    connection.answer(command, { subject: 'f', sweep: stored });
  const asked = (command: string) =>
    connection.log.filter(([requested]) => requested === command).length;
  const states = () => model.sweep?.cells.map(({ state }) => state);

  it('is fetched by who looks, once, and completed by what is pushed', async () => {
    push(sweep([done('cpp', 20, 5)]));
    await settle();
    expect(asked('get_sweep')).toBe(0);
    void model.loadSweep();
    void model.loadSweep();
    expect(asked('get_sweep')).toBe(1);
    await answer('get_sweep', sweep(WAITING));
    push(sweep([done('cpp', 20, 5)]));
    push(sweep([done('python', 30, 2)]), 'g');
    expect(states()).toEqual(['waiting', 'done']);
  });

  it('is asked for anew where another one has begun', async () => {
    void model.loadSweep();
    await answer('get_sweep', sweep(WAITING));
    push(sweep([cell('cpp', { state: 'running' })], { id: 'sweep-2' }));
    await answer('get_sweep', sweep([cell('cpp')], { id: 'sweep-2' }));
    expect(model.sweep?.id).toBe('sweep-2');
  });

  it('is begun with what was asked for; news may be quicker than the answer', async () => {
    void model.startSweep({
      variants: [variant()],
      shapes: { small: 'x[:2]' },
      timeout: 60,
      resume: false,
      executor: 'cluster'
    });
    await settle();
    push(sweep([done('cpp', 20, 5)]));
    await answer('start_sweep', sweep(WAITING));
    expect(states()).toEqual(['waiting', 'done']);
    expect(connection.log.at(-1)![1]).toMatchObject({
      subject: 'f',
      shapes: { small: 'x[:2]' },
      timeout_s: 60,
      seconds: 2,
      resume: false,
      executor: 'cluster'
    });
  });

  it('may run on executors that the kernel has told of', () => {
    connection.hello({ choices: { ...NO_CHOICES, executors: ['cluster'] } });
    expect(model.choices.executors).toEqual(['cluster']);
    const changed = jest.fn();
    model.choicesChanged.connect(changed);
    connection.event.emit({
      event: 'choices_changed',
      data: { choices: { ...NO_CHOICES, executors: ['other'] } }
    });
    expect(model.choices.executors).toEqual(['other']);
    expect(changed).toHaveBeenCalledTimes(1);
  });

  it('stays as it was where another one cannot begin, and says why', async () => {
    void model.loadSweep();
    await answer('get_sweep', sweep(WAITING));
    void model.startSweep({ variants: [variant()] });
    await settle();
    await connection.answer('start_sweep', new Error('runs already'));
    expect(model.problem?.what).toContain('runs already');
    expect(states()).toEqual(['waiting', 'waiting']);
    push(sweep([done('cpp', 20, 5)]));
    expect(states()).toEqual(['waiting', 'done']);
  });

  it('ends with its kernel, and is asked for when that is there again', async () => {
    void model.loadSweep();
    await answer('get_sweep', sweep([done('python', 30, 2), WAITING[1]]));
    connection.setStatus({ kind: 'dead' });
    expect(model.sweep?.state).toBe('cancelled');
    expect(states()).toEqual(['done', 'cancelled']);
    connection.hello({ subjects: [subjectSummary('f')] });
    await answer('get_sweep', null);
    expect(model.sweep).toBeNull();
  });

  it('goes with its subject', async () => {
    void model.loadSweep();
    await answer('get_sweep', sweep(WAITING));
    model.subject = 'g';
    expect(model.sweep).toBeNull();
  });
});

it('comes from a file', async () => {
  const stored = sweep([done('cpp', 20, 5)], { state: 'done' });
  const { subject, environment } = report('f');
  const file = new FileConnection({
    subject,
    environment,
    variants: [],
    problems: [],
    files: {},
    peaks: [],
    sweep: stored,
    contents: { variants: [], sweep: null, problems: 0, listed_problems: [] }
  } as unknown as Report);
  const { sweep: read } = await file.request('get_sweep', { subject: 'f' });
  file.dispose();
  expect(read?.cells[0].name).toBe('cpp');
});
