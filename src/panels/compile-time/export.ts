import type { Compilation, VariantReport } from '../../protocol/types';
import type { IViewContext } from '../views';
import { kernelPhases } from './timeline/loadPhases';
import { kernelsTitle, runTitle, trackTitle } from './phrases';
import { chromeTrace } from './chromeTrace';

/**
 * The phases of compilations and the steps of their kernels, as a file for
 * Perfetto.
 */
export function exportTrace(
  variant: VariantReport,
  compilations: readonly Compilation[],
  { model, trans }: IViewContext
): { filename: string; text: string } {
  const { report } = model;
  const subject = report?.subject.name ?? '';
  const trace = chromeTrace(
    compilations,
    kernelPhases(variant.kernel_loads),
    {
      subject,
      variant: variant.name,
      environment: report?.environment ?? {},
      first_call_s: variant.compile_time?.total_s ?? null,
      warm_first_call_s: variant.warm_compile_time?.total_s ?? null
    },
    {
      run: {
        cold: `${variant.name}, ${runTitle(variant.recorded ? 'recorded' : 'cold', trans)}`,
        warm: `${variant.name}, ${runTitle('warm', trans)}`,
        later: `${variant.name}, ${runTitle('later', trans)}`
      },
      track: ({ id, of, run }, track, isMain) =>
        [
          id,
          of === 'kernels' && kernelsTitle(run, trans),
          trackTitle(track, isMain, trans)
        ]
          .filter(Boolean)
          .join(', ')
    }
  );
  const stem = ['compile', subject, variant.name]
    .map(part => part.replace(/[^\w.-]+/g, '_').slice(0, 60))
    .filter(Boolean)
    .join('-');
  return { filename: `${stem}.trace.json`, text: JSON.stringify(trace) };
}
