import type { TranslationBundle } from '@jupyterlab/translation';
import type { MakeFigure } from '../../charts';
import { asText } from '../../charts';
import { formatMicroseconds, formatSeconds } from '../../words/format';
import { firstCallAgainstLatency } from '../common/tradeOffs';
import { againstEager, nameOf } from './phrases';
import type { IRow } from './rows';

/**
 * Whether there is anything to plot.
 */
export function isPlotted({ cell, latency }: IRow): boolean {
  return cell.state === 'done' && latency !== null;
}

/**
 * First call against latency, with a line through the Pareto-optimal cells.
 *
 * @param chosen - The id of the selected row.
 */
export function paretoOf(
  rows: readonly IRow[],
  chosen: string | null,
  trans: TranslationBundle
): MakeFigure {
  return firstCallAgainstLatency(
    rows.filter(isPlotted).map(row => ({
      id: row.id,
      name: row.cell.name,
      series: row.cell.shape,
      firstCall: row.compile ?? 0,
      latency: row.latency!,
      isFront: row.isFront,
      isBest: row.isWinner,
      isRight: row.cell.accurate !== false,
      hover: hoverOf(row, trans)
    })),
    chosen,
    trans
  );
}

function hoverOf(row: IRow, trans: TranslationBundle): string {
  const { cell, latency, compile } = row;
  return [
    `<b>${asText(nameOf(cell))}</b>`,
    trans.__(
      'latency %1 (%2)',
      formatMicroseconds(latency!),
      cell.timing!.interval
    ),
    againstEager(cell, trans),
    compile === null
      ? trans.__('nothing to compile')
      : trans.__('first call %1', formatSeconds(compile)),
    cell.accurate === false ? trans.__('its results differ from eager’s') : ''
  ]
    .filter(Boolean)
    .join('<br>');
}
