import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { Effective, OutputError } from '../../protocol/types';
import { FIRST_CALL_PARTS } from '../../protocol/types';
import { Badge, Fact, Prose } from '../common';
import {
  formatBytes,
  formatCount,
  formatDifference,
  formatMicroseconds,
  formatSeconds
} from '../../words/format';
import { TABLES } from '../../words/tables';
import { IconButton } from '../common/button';
import type { IViewContext } from '../views';
import { againstEager, nameOf, stateKind, stateTitle } from './phrases';
import type { IRow } from './rows';
import { ProblemCard } from '../common/states/problemCard';

/**
 * The details of one cell.
 */
export function Details(props: {
  row: IRow;
  unit: string;
  context: IViewContext;
  onClose: () => void;
}): JSX.Element {
  const { row, unit, context, onClose } = props;
  const { model, trans } = context;
  const { cell } = row;
  const { timing, compile_time: compiled } = cell;
  const parts = Object.entries(compiled?.parts ?? {}).filter(
    ([, seconds]) => seconds > 0
  );
  return (
    <section
      className="jp-Compilescope-sweepCell"
      aria-label={trans.__('Cell %1', nameOf(cell))}
    >
      <header>
        <h3>{nameOf(cell)}</h3>
        <Badge kind={row.isWinner ? 'good' : stateKind(cell.state)}>
          {row.isWinner
            ? TABLES.cells(trans).state.words.fastest
            : stateTitle(cell.state, trans)}
        </Badge>
        {cell.reused && <Badge>{trans.__('reused')}</Badge>}
        {model.isLive && (
          <button
            type="button"
            className="jp-Compilescope-button"
            title={trans.__(
              'Set the switches to this variant, and see its code'
            )}
            onClick={() => {
              model.setRequested(cell.variant);
              context.open('code');
            }}
          >
            {trans.__('Inspect this variant')}
          </button>
        )}
        <IconButton
          icon={closeIcon}
          label={trans.__('Close')}
          onClick={onClose}
        />
      </header>
      {cell.problem && <ProblemCard problem={cell.problem} trans={trans} />}
      <dl>
        {timing && (
          <>
            <Fact label={trans.__('Latency')}>
              {`${formatMicroseconds(timing.median_us)} (${timing.interval})`}
            </Fact>
            {timing.ratio !== null && cell.variant.backend !== null && (
              <Fact label={trans.__('Against eager')}>
                {timing.speedup?.detail ?? againstEager(cell, trans)}
              </Fact>
            )}
            {!timing.settled && (
              <Fact label={trans.__('Warm-up')}>
                {trans.__('not settled: times still changed')}
              </Fact>
            )}
          </>
        )}
        {cell.throughput_per_s !== null && (
          <Fact label={trans.__('Throughput')}>
            {`${formatCount(Math.round(cell.throughput_per_s))} ${unit}/s`}
          </Fact>
        )}
        {cell.memory_bytes !== null && (
          <Fact label={trans.__('Memory')}>
            {formatBytes(cell.memory_bytes)}
          </Fact>
        )}
        {compiled && (
          <Fact label={trans.__('First call')}>
            {formatSeconds(compiled.total_s)}
            {parts.length > 0 && (
              <span className="jp-Compilescope-muted">
                {` = ${parts
                  .map(
                    ([name, seconds]) =>
                      `${FIRST_CALL_PARTS[name] ?? name} ${formatSeconds(seconds)}`
                  )
                  .join(', ')}`}
              </span>
            )}
          </Fact>
        )}
        {cell.took_s !== null && (
          <Fact label={trans.__('Total time')}>
            {formatSeconds(cell.took_s)}
          </Fact>
        )}
        {cell.tries > 1 && (
          <Fact label={trans.__('Attempts')}>
            {trans.__('%1, because its worker process died', cell.tries)}
          </Fact>
        )}
        {cell.worker && <Fact label={trans.__('Ran on')}>{cell.worker}</Fact>}
        {cell.device && <Fact label={trans.__('Device')}>{cell.device}</Fact>}
        {cell.arguments.length > 0 && (
          <Fact label={trans.__('Arguments')}>
            <code>{cell.arguments.join(', ')}</code>
          </Fact>
        )}
      </dl>
      <Effectives effective={cell.effective} context={context} />
      <Errors errors={cell.accuracy} context={context} />
    </section>
  );
}

function Effectives(props: {
  effective: readonly Effective[];
  context: IViewContext;
}): JSX.Element | null {
  const { effective, context } = props;
  const { trans } = context;
  return effective.length > 0 ? (
    <div>
      <h4>{trans.__('Not as requested')}</h4>
      <ul>
        {effective.map((setting, index) => (
          <li key={index}>
            <code>{setting.setting}</code>
            {': '}
            {trans.__(
              '%1 requested, %2 effective.',
              setting.requested,
              setting.actual
            )}{' '}
            <Prose
              text={[setting.why, setting.remedy].filter(Boolean).join(' ')}
            />
          </li>
        ))}
      </ul>
    </div>
  ) : null;
}

function Errors(props: {
  errors: readonly OutputError[];
  context: IViewContext;
}): JSX.Element | null {
  const { errors, context } = props;
  const { trans } = context;
  const wrong = errors.filter(error => !error.ok);
  return wrong.length > 0 ? (
    <div>
      <h4>{trans.__('Results that differ from eager’s')}</h4>
      <ul>
        {wrong.map(({ path, dtype, max_abs, tolerance_abs }) => (
          <li key={path}>
            <code>{path}</code>{' '}
            {max_abs > 0 &&
              trans.__(
                '(%1) by %2 at most, where %3 is allowed',
                dtype,
                formatDifference(max_abs),
                formatDifference(tolerance_abs)
              )}
          </li>
        ))}
      </ul>
    </div>
  ) : null;
}
