import * as React from 'react';
import type { VariantReport } from '../../protocol/types';
import { buildRemedy, Empty } from '../common';
import type { IViewContext } from '../views';
import { Config } from './config';
import { CudaGraphsSection } from './cudaGraphs';
import { Deviations } from './deviations';
import { Routes } from './routes';
import { SettingsTable } from './table';
import { settingsOf } from './settings';
import { Targets } from './targets';

/**
 * What the variants of a report requested, and what torch did: differences
 * first.
 */
export function RequestedBody(props: {
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element {
  const { variants, context } = props;
  const { model, trans } = context;
  const settings = React.useMemo(() => settingsOf(variants), [variants]);
  const aimed = variants.filter(({ target }) => target !== null);
  const differing = settings.filter(({ differs }) => differs);
  const counted = model.report?.overview?.counts.find(
    ({ view }) => view === 'requested'
  );
  const reasons = variants
    .map(({ name, absent }) => [name, absent.effective] as const)
    .filter(([, why]) => why);
  return (
    <div className="jp-Compilescope-body jp-Compilescope-requestedBody">
      {settings.length === 0 ? (
        <Empty
          what={trans.__('The effective settings are not known')}
          {...(variants.every(({ recorded }) => recorded)
            ? {
                why: trans.__(
                  'They are recorded only if compilescope builds the variant.'
                ),
                remedy: trans.__(
                  'To see them, put %1 at the top of a cell that makes the call.',
                  '%%compile'
                )
              }
            : {
                why: reasons.map(([name, why]) => `${name}: ${why}`).join('\n'),
                remedy: buildRemedy(model, trans)
              })}
        />
      ) : (
        <>
          <section aria-labelledby="jp-Compilescope-deviations">
            <h3
              id="jp-Compilescope-deviations"
              className={
                differing.length > 0
                  ? undefined
                  : 'jp-Compilescope-requestedGood'
              }
            >
              {differing.length > 0
                ? (counted?.text ?? trans.__('Settings not in effect'))
                : trans.__('All settings are in effect as requested')}
            </h3>
            {differing.length > 0 && (
              <Deviations
                settings={differing}
                variants={variants}
                context={context}
              />
            )}
          </section>
          <section>
            <h3>{trans.__('All settings, side by side')}</h3>
            <SettingsTable
              settings={settings}
              variants={variants}
              trans={trans}
            />
          </section>
        </>
      )}
      {aimed.length > 0 && <Targets variants={aimed} context={context} />}
      <CudaGraphsSection variants={variants} context={context} />
      <Routes variants={variants} context={context} />
      <Config variants={variants} trans={trans} />
    </div>
  );
}
