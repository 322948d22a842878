import { complete } from '../../../src/model/measurement';
import { SubjectModel } from '../../../src/model/subject';
import type { Measurement } from '../../../src/protocol/types';
import {
  FakeConnection,
  job,
  report,
  settle,
  subjectSummary
} from '../support/fakes';
import { measurement, series } from '../support/measured';

function of(
  since: number,
  samples: number[],
  change: Partial<Measurement> = {}
) {
  return measurement({
    since,
    rounds: since + samples.length,
    series: [series('eager', { samples_us: samples })],
    ...change
  });
}

describe('complete', () => {
  it('adds the samples that are new', () => {
    const whole = complete(of(0, [1, 2, 3]), of(3, [4, 5]));
    expect(whole).toMatchObject({ since: 0, rounds: 5 });
    expect(whole?.series[0].samples_us).toEqual([1, 2, 3, 4, 5]);
  });

  it('counts none twice that is told twice', () => {
    const whole = complete(of(0, [1, 2, 3]), of(1, [2, 3, 4]));
    expect(whole?.series[0].samples_us).toEqual([1, 2, 3, 4]);
  });

  it('lets a variant join, and goes on with it', () => {
    const joined = { ...of(3, [4]), rounds: 4 };
    joined.series.push(series('cpp', { first: 3, samples_us: [40] }));
    const whole = complete(of(0, [1, 2, 3]), joined)!;
    const on = { ...of(4, [5]), rounds: 5 };
    on.series.push(series('cpp', { first: 3, samples_us: [50] }));
    const last = complete(whole, on)!;
    expect(last.series.map(entry => entry.samples_us)).toEqual([
      [1, 2, 3, 4, 5],
      [40, 50]
    ]);
  });

  it('says when rounds are missing, and when news are old', () => {
    const known = of(0, [1, 2, 3]);
    expect(complete(known, of(5, [6]))).toBeNull();
    expect(complete(null, of(5, [6]))).toBeNull();
    expect(complete(known, of(0, [1, 2]))).toBe(known);
  });

  it('forgets another measurement', () => {
    const whole = complete(of(0, [1, 2, 3]), of(0, [9], { id: 'm2' }));
    expect(whole?.series[0].samples_us).toEqual([9]);
    expect(complete(of(0, [1, 2]), of(2, [9], { id: 'm2' }))).toBeNull();
  });
});

describe('The measurement of a model', () => {
  let connection: FakeConnection;
  let model: SubjectModel;
  let listener: jest.Mock;

  beforeEach(async () => {
    connection = new FakeConnection();
    model = new SubjectModel();
    model.connection = connection;
    listener = jest.fn();
    model.measurementChanged.connect((_, state) =>
      listener(state?.rounds ?? null)
    );
    connection.event.emit({
      event: 'subjects_changed',
      data: { subjects: [subjectSummary('f')], focus: 'f', offer: null }
    });
    await connection.answer('get_report', report('f'));
  });

  afterEach(() => model.dispose());

  function push(listener: Measurement) {
    connection.event.emit({
      event: 'measured',
      data: { measurement: listener }
    });
  }

  const asked = () =>
    connection.log.flatMap(([command, args]) =>
      command === 'get_measurement' ? [args] : []
    );

  it('is fetched by who looks, once, and completed by what is pushed', async () => {
    expect(asked()).toEqual([]);
    void model.loadMeasurement();
    void model.loadMeasurement();
    expect(asked()).toEqual([{ subject: 'f', since: 0 }]);
    await connection.answer('get_measurement', of(0, [1, 2]));
    push(of(2, [3]));
    expect(model.measurement?.series[0].samples_us).toEqual([1, 2, 3]);
    expect(listener.mock.calls).toEqual([[2], [3]]);
  });

  it('is asked for what it missed', async () => {
    push(of(0, [1]));
    push(of(3, [4]));
    expect(asked()).toEqual([{ subject: 'f', since: 1 }]);
    await connection.answer('get_measurement', of(1, [2, 3, 4]));
    expect(model.measurement?.series[0].samples_us).toEqual([1, 2, 3, 4]);
  });

  it('takes the end that is told while what it missed is on its way', async () => {
    push(of(0, [1]));
    push(of(2, [3]));
    push(of(3, [4], { state: 'done' }));
    await connection.answer('get_measurement', of(1, [2, 3]));
    expect(model.measurement).toMatchObject({ state: 'done', rounds: 4 });
    expect(model.measurement?.series[0].samples_us).toEqual([1, 2, 3, 4]);
    expect(connection.asked).toEqual([]);
  });

  it('is asked for as a whole where another one began meanwhile', async () => {
    push(of(0, [1]));
    push(of(3, [4]));
    await connection.answer('get_measurement', of(1, [8], { id: 'm2' }));
    expect(asked()).toEqual([
      { subject: 'f', since: 1 },
      { subject: 'f', since: 0 }
    ]);
    await connection.answer('get_measurement', of(0, [7, 8], { id: 'm2' }));
    expect(model.measurement?.series[0].samples_us).toEqual([7, 8]);
  });

  it('goes with its subject; what is of another one is dropped', async () => {
    push(of(0, [1]));
    push({ ...of(0, [5, 6]), subject: 'g' });
    expect(model.measurement?.rounds).toBe(1);
    void model.loadMeasurement();
    connection.event.emit({
      event: 'subjects_changed',
      data: { subjects: [subjectSummary('g')], focus: 'g', offer: null }
    });
    expect(model.measurement).toBeNull();
    await connection.answer('get_measurement', of(1, [2]));
    expect(model.measurement).toBeNull();
  });

  it('none is none', async () => {
    void model.loadMeasurement();
    await connection.answer(
      'get_measurement',
      measurement({ id: '', state: 'none' })
    );
    expect(model.measurement).toBeNull();
    expect(listener).not.toHaveBeenCalled();
  });

  it('is started as asked, and canceled as any job', async () => {
    void model.startMeasure({ variants: ['cpp'], seconds: 5, restart: true });
    expect(connection.log[connection.log.length - 1]).toEqual([
      'start_measure',
      { subject: 'f', variants: ['cpp'], seconds: 5, restart: true }
    ]);
    await connection.answer('start_measure', {
      job: job({ kind: 'measure' }),
      code: 'go()'
    });
    expect(connection.execute.mock.calls[0][0]).toBe('go()');
    expect(model.job?.kind).toBe('measure');
    void model.cancel();
    await settle();
    expect(connection.log[connection.log.length - 1]).toEqual([
      'cancel',
      { job: 'job-1' }
    ]);
  });

  it('studies are started as asked', async () => {
    void model.startStudies(['deploy'], ['cpp'], {
      selected: { ways: ['eager'] },
      executor: 'cluster'
    });
    const asked = { subject: 'f', studies: ['deploy'], variants: ['cpp'] };
    expect(connection.log[connection.log.length - 1]).toEqual([
      'start_studies',
      { ...asked, options: { ways: ['eager'] }, executor: 'cluster' }
    ]);
    await connection.answer('start_studies', {
      job: job({ kind: 'study' }),
      code: 'go()'
    });
    expect(model.job?.kind).toBe('study');
  });

  it('what a study can be limited to is asked of the kernel', async () => {
    const asked = model.getStudyChoices('deploy', 'cpp');
    expect(connection.log[connection.log.length - 1]).toEqual([
      'get_study_choices',
      { subject: 'f', study: 'deploy', variant: 'cpp' }
    ]);
    await connection.answer('get_study_choices', { choices: { ways: [] } });
    expect(await asked).toEqual({ ways: [] });
  });
});
