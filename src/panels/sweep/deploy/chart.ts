import type { TranslationBundle } from '@jupyterlab/translation';
import type { MakeFigure } from '../../../charts';
import { asText } from '../../../charts';
import type { DeployWay } from '../../../protocol/types';
import { formatMicroseconds, formatSeconds } from '../../../words/format';
import { firstCallAgainstLatency } from '../../common/tradeOffs';

/**
 * Whether a way was measured.
 */
export function isMeasured(way: DeployWay): boolean {
  return way.first_s !== null;
}

/**
 * Whether a way has a point in the chart.
 */
export function isPlotted(way: DeployWay): boolean {
  return isMeasured(way) && way.relative !== null;
}

/**
 * The first call against the latency of each way that was measured.
 *
 * @param chosen - The name of the way whose code is shown.
 */
export function deployChartOf(
  ways: readonly DeployWay[],
  chosen: string,
  trans: TranslationBundle
): MakeFigure {
  return firstCallAgainstLatency(
    ways.filter(isPlotted).map(way => ({
      id: way.name,
      name: way.name,
      series: '',
      firstCall: way.first_s!,
      // For processes that ran at different times, only this can be compared.
      latency: way.relative!,
      isFront: way.is_pareto,
      isBest: way.best_for.includes('balanced'),
      isRight: way.as_eager !== false,
      hover: hoverOf(way, trans)
    })),
    chosen,
    trans,
    true
  );
}

function hoverOf(way: DeployWay, trans: TranslationBundle): string {
  return [
    `<b>${asText(way.name)}</b>`,
    trans.__('first call %1', formatSeconds(way.first_s!)),
    way.call_us === null
      ? ''
      : trans.__('latency %1', formatMicroseconds(way.call_us)),
    way.speedup ? trans.__('against eager: %1', way.speedup.text) : '',
    way.as_eager === false ? trans.__('its results differ from eager’s') : '',
    way.safe ? '' : trans.__('can give wrong results for other calls')
  ]
    .filter(Boolean)
    .join('<br>');
}
