import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { KernelLoad, LoadSpan, VariantReport } from '../../protocol/types';
import { AbsentValue } from '../common';
import { formatMicroseconds } from '../../words/format';
import { TABLES } from '../../words/tables';
import { DeclaredCells, declaredHeads } from '../common/tables/declared';
import { Figures, type IHead } from '../common/tables/figures';
import { Part } from '../common/study';
import { kindClass } from './timeline/colors';
import type { LoadStep } from './timeline/loadPhases';

/**
 * How each kernel was prepared: when, and how long it was compiled, loaded,
 * tuned and run for the first time.
 */
export function LoadsPart(props: {
  variant: VariantReport;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { variant, trans } = props;
  const { kernel_loads: loads } = variant;
  if (loads.length === 0) {
    return null;
  }
  const columns = TABLES.loads(trans);
  const end = Math.max(
    0,
    ...loads.flatMap(drawn).map(({ start_us, us }) => start_us + us)
  );
  return (
    <Part name="loads" title={trans.__('Kernel by kernel')}>
      <p className="jp-Compilescope-hint">
        {trans.__(
          'When each kernel was compiled, loaded, tuned and first run, from the start of the first call. The chart above shows the same beside torch’s phases. The last column is a launch in the next call.'
        )}
      </p>
      <Figures
        label={trans.__('Load time of each kernel, as a table')}
        name="loads"
        caption={trans.__('Compile and load time of each kernel')}
        heads={declaredHeads('loads', trans, {
          compile: stepHead('compile', columns.compile.title),
          load: stepHead('load', columns.load.title),
          autotune: stepHead('autotune', columns.autotune.title),
          first_run: stepHead('first_run', columns.first_run.title)
        })}
      >
        {loads.map((load, index) => (
          <LoadRow key={index} load={load} end={end} trans={trans} />
        ))}
      </Figures>
      {variant.absent.kernel_loads && (
        <p className="jp-Compilescope-hint">{variant.absent.kernel_loads}</p>
      )}
    </Part>
  );
}

type Step = Exclude<LoadStep, 'later_run'>;
const STEPS: readonly Step[] = ['compile', 'load', 'autotune', 'first_run'];

function LoadRow(props: {
  load: KernelLoad;
  end: number;
  trans: TranslationBundle;
}): JSX.Element {
  const { load, end, trans } = props;
  const columns = TABLES.loads(trans);
  const figure = (us: number | null, strong = false) => (
    <td className="jp-mod-number">
      {us === null ? (
        <AbsentValue why={load.how} />
      ) : strong ? (
        <strong>{formatMicroseconds(us)}</strong>
      ) : (
        formatMicroseconds(us)
      )}
    </td>
  );
  return (
    <tr title={load.how}>
      <DeclaredCells
        table="loads"
        trans={trans}
        cells={{
          kernel: (
            <th scope="row">
              <code title={load.kernel}>{load.kernel}</code>{' '}
              <span className="jp-Compilescope-muted">{load.compilation}</span>
            </th>
          ),
          when: <td>{load.when && columns.when.words[load.when]}</td>,
          steps: (
            <td>
              <span className="jp-Compilescope-loadBar" aria-hidden="true">
                {drawn(load).map(({ step, start_us, us }, place) => (
                  <span
                    key={place}
                    className={kindClass(step)}
                    style={{
                      left: `${part(start_us, end)}%`,
                      width: `${part(us, end)}%`
                    }}
                  />
                ))}
              </span>
            </td>
          ),
          compile:
            load.compile_us === null && load.cached ? (
              <td className="jp-mod-number jp-Compilescope-muted">
                {trans.__('cached')}
              </td>
            ) : (
              figure(load.compile_us)
            ),
          load: figure(load.load_us),
          autotune:
            load.autotune_us === null ? (
              <td className="jp-mod-number jp-Compilescope-muted">–</td>
            ) : (
              figure(load.autotune_us)
            ),
          first_run: figure(load.first_run_us, true),
          later_run: figure(load.warm_run_us)
        }}
      />
    </tr>
  );
}

function stepHead(step: Step, title: string): Partial<IHead> {
  const label = (
    <>
      <span className={`${kindClass(step)} jp-mod-swatch`} aria-hidden="true" />
      {title}
    </>
  );
  return { label };
}

/**
 * The steps of the first call at their times; one after the other if the report
 * does not have the times.
 */
function drawn(
  load: KernelLoad
): readonly Pick<LoadSpan, 'step' | 'start_us' | 'us'>[] {
  if (load.spans.length > 0) {
    return load.spans.filter(({ step }) => step !== 'later_run');
  }
  let start_us = load.started_us;
  return STEPS.flatMap(step => {
    const us = load[`${step}_us`] ?? 0;
    const before = start_us;
    start_us += us;
    return us > 0 ? [{ step, start_us: before, us }] : [];
  });
}

function part(us: number, end: number): number {
  return end > 0 ? (us / end) * 100 : 0;
}
