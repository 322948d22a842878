import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Chart } from '../../../charts';
import { isKernelBusy } from '../../../model/jobs';
import type { VariantReport } from '../../../protocol/types';
import { CodeBlock } from '../../common';
import type { IRunOn } from '../../common/runOn';
import { RunOn } from '../../common/runOn';
import { StudyPart } from '../../common/study';
import {
  estimateOf,
  selectedOf,
  StudyOptionForm,
  useStudyOption
} from '../../common/studyOption';
import type { IStudyOption } from '../../common/studyOption';
import type { IViewContext } from '../../views';
import { deployChartOf, isMeasured, isPlotted } from './chart';
import { WaysTable } from './table';

/**
 * The height of the chart, in pixels.
 */
const CHART = 280;

/**
 * The ways to deploy the call: the study's button, and its results for each
 * variant that was studied.
 */
export function DeployPart(props: {
  variants: readonly VariantReport[];
  runOn: IRunOn;
  context: IViewContext;
}): JSX.Element {
  const { variants, runOn, context } = props;
  const { model, trans } = context;
  const option = useStudyOption('deploy', 'ways', context);
  return (
    <StudyPart
      study="deploy"
      title={trans.__('Ways to deploy')}
      label={trans.__('Measure')}
      variants={(model.report?.variants ?? []).filter(
        ({ name }) => name === model.variant
      )}
      unbuilt={trans.__('The selected variant does not run here.')}
      options={{ selected: selectedOf(option), executor: runOn.executor }}
      obstacle={
        option?.selected.size === 0 ? trans.__('Select at least one way.') : ''
      }
      context={context}
    >
      {option && !isKernelBusy(model.job) && (
        <Selection option={option} runOn={runOn} trans={trans} />
      )}
      {variants.length === 0 ? (
        <p className="jp-Compilescope-hint">
          {trans.__(
            'Wrappers, modes, blocks compiled once, aot_compile and AOTInductor for the selected variant, each in new processes: first call with and without caches, latency, shipped files and restrictions.'
          )}
        </p>
      ) : (
        variants.map(variant => (
          <Ways
            key={variant.name}
            variant={variant}
            isNamed={variants.length > 1}
            context={context}
          />
        ))
      )}
    </StudyPart>
  );
}

/**
 * How many ways will be measured, the estimated time, where they run, and their
 * names.
 */
function Selection(props: {
  option: IStudyOption;
  runOn: IRunOn;
  trans: TranslationBundle;
}): JSX.Element {
  const { option, runOn, trans } = props;
  const [isOpen, setOpen] = React.useState(false);
  const id = React.useId();
  const able = option.choices.filter(({ why }) => why === '').length;
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  const estimate = estimateOf(option, trans);
  return (
    <div>
      <div className="jp-Compilescope-waysSelection">
        <button
          type="button"
          className="jp-Compilescope-button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <Caret.react tag="span" width="14px" height="14px" />
          {trans.__('Select ways')}
        </button>
        <span className="jp-Compilescope-muted" role="status">
          {trans.__('%1 of %2 ways', option.selected.size, able)}
          {estimate && `, ${estimate}`}
        </span>
        <RunOn runOn={runOn} trans={trans} />
      </div>
      <div id={id} hidden={!isOpen}>
        <StudyOptionForm study="deploy" option={option} trans={trans} />
      </div>
    </div>
  );
}

function Ways(props: {
  variant: VariantReport;
  isNamed: boolean;
  context: IViewContext;
}): JSX.Element {
  const { variant, isNamed, context } = props;
  const { trans } = context;
  const { ways, best_way: recommended, ways_not_tried: notTried } = variant;
  const measured = ways.filter(isMeasured);
  const [choice, setChoice] = React.useState('');
  const chosen =
    measured.find(({ name }) => name === choice) ??
    measured.find(({ best_for }) => best_for.includes('balanced')) ??
    measured[0];
  const name = chosen?.name ?? '';
  const chart = React.useMemo(
    () => deployChartOf(ways, name, trans),
    [ways, name, trans]
  );
  return (
    <div className="jp-Compilescope-ways">
      {isNamed && <h4>{variant.name}</h4>}
      {recommended && <p>{recommended}</p>}
      {notTried.length > 0 && (
        <p className="jp-Compilescope-hint">
          {trans.__('Not tried: %1.', notTried.join(', '))}
        </p>
      )}
      <div className="jp-Compilescope-waysResult">
        {ways.some(isPlotted) && (
          <div>
            <Chart
              make={chart}
              height={CHART}
              label={trans.__(
                'First call against latency of each way, in the table below. %1',
                recommended
              )}
              onClick={id => setChoice(String(id))}
            />
            <p className="jp-Compilescope-hint">
              {trans.__(
                'The first call with the shipped files, if that works. The line joins the Pareto-optimal ways. ★ balanced, ○ dominated, too noisy to judge or not safe, × wrong result.'
              )}
            </p>
          </div>
        )}
        {chosen && (
          <section
            className="jp-Compilescope-wayCode"
            aria-label={trans.__('Code of %1', name)}
          >
            <h4>{trans.__('Code of %1', name)}</h4>
            <CodeBlock
              code={chosen.paste_code}
              label={trans.__('%1 as code', name)}
              trans={trans}
            />
          </section>
        )}
      </div>
      <WaysTable ways={ways} chosen={name} onChoose={setChoice} trans={trans} />
      {variant.ways_remarks.map(remark => (
        <p key={remark}>{remark}</p>
      ))}
      <p className="jp-Compilescope-hint">
        {trans.__(
          'Each figure is wall-clock time in a new process. Select a way to see the code that ran.'
        )}
      </p>
    </div>
  );
}
