import * as React from 'react';
import { wrapperName } from '../../model/wrappers';
import type { Decision, Device, VariantReport } from '../../protocol/types';
import { DECISIONS_TITLE } from '../../protocol/types';
import { DecisionList, useLoaded, ViewFrame } from '../common';
import { formatBytes, formatCount, formatQuantity } from '../../words/format';
import type { IViewContext } from '../views';
import {
  findEverywhere,
  type IFindings,
  type ICompilationItem
} from './everywhere';
import { VariantTable } from './variants';
import type { IVariantRow } from './variants';

/**
 * The maximum number of lines of a wrapper that are listed.
 */
const MAX_LINES = 8;

type Decided = readonly Decision[];

/**
 * The unavailable devices for which code was generated, and what a rule decided
 * for them.
 *
 * @param props.variants - The variants for such a device.
 */
export function Targets(props: {
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element {
  const { variants, context } = props;
  const { model, trans } = context;
  const devices = devicesOf(variants);
  const key = [model.subject, model.report?.revision].join(' ');
  const state = useLoaded(
    () =>
      findEverywhere<Decided>(variants, context, 'kernels', ({ decisions }) =>
        decisions.length > 0 ? [decisions] : []
      ),
    key,
    trans.__('Loading decisions…')
  );
  return (
    <>
      <section aria-labelledby="jp-Compilescope-targets">
        <h3 id="jp-Compilescope-targets">{trans.__('Target devices')}</h3>
        <p className="jp-Compilescope-hint">
          {trans.__(
            'Nothing runs on them. Their figures are the vendor’s, or your own.'
          )}
        </p>
        <VariantTable
          head={trans.__('Figure')}
          label={trans.__('Target devices')}
          variants={devices.map(({ names }) => ({ name: names.join(', ') }))}
          rows={rowsOf(devices, context)}
        />
      </section>
      <section aria-labelledby="jp-Compilescope-decisions">
        <h3 id="jp-Compilescope-decisions">{DECISIONS_TITLE}</h3>
        <p className="jp-Compilescope-hint">
          {trans.__(
            'Choices that are made on the device, by its libraries or by measuring. Here a heuristic made them.'
          )}
        </p>
        <ViewFrame
          state={state}
          trans={trans}
          show={findings => <FindingRow {...findings} context={context} />}
        />
      </section>
    </>
  );
}

function FindingRow(
  props: IFindings<Decided> & { context: IViewContext }
): JSX.Element {
  const { rows, omitted, context } = props;
  const { trans } = context;
  return (
    <>
      {rows.length === 0 && (
        <p className="jp-Compilescope-requestedGood">
          {trans.__('None: everything follows from the device’s figures.')}
        </p>
      )}
      {rows.map(row => (
        <article
          key={`${row.variant} ${row.compilation}`}
          className="jp-Compilescope-decided"
        >
          <h4>
            {row.variant} <code>{row.compilation}</code>
          </h4>
          <DecisionList
            decisions={row.item}
            aside={decision => (
              <Lines {...row} decision={decision} context={context} />
            )}
          />
        </article>
      ))}
      {omitted > 0 && (
        <p className="jp-Compilescope-hint">
          {trans.__('%1 further compilations are not shown.', omitted)}
        </p>
      )}
    </>
  );
}

/**
 * Where a decision is visible in the wrappers.
 */
function Lines(
  props: Omit<ICompilationItem<Decided>, 'item'> & {
    decision: Decision;
    context: IViewContext;
  }
): JSX.Element | null {
  const { variant, compilation, decision, context } = props;
  const { model, trans } = context;
  const places = Object.entries(decision.lines).flatMap(([artifact, lines]) =>
    lines.map(line => ({
      artifact: wrapperName(decision.direction, artifact),
      line
    }))
  );
  const open = (text: { artifact: string; line: number }) => {
    model.select({ text: { variant, compilation, ...text } });
    context.open('code');
  };
  return places.length > 0 ? (
    <p className="jp-Compilescope-decisionLines">
      {places.slice(0, MAX_LINES).map(({ artifact, line }) => (
        <button
          key={`${artifact} ${line}`}
          type="button"
          className="jp-Compilescope-link"
          onClick={() => open({ artifact, line })}
        >
          {artifact.endsWith('cpp')
            ? trans.__('C++ wrapper, line %1', line)
            : trans.__('Python wrapper, line %1', line)}
        </button>
      ))}
    </p>
  ) : null;
}

/**
 * A device, and the names of its variants.
 */
interface ITargetDevice {
  readonly device: Device;
  readonly names: string[];
}

/**
 * The devices without duplicates, with their variants.
 */
function devicesOf(variants: readonly VariantReport[]): ITargetDevice[] {
  const byName = new Map<string, ITargetDevice>();
  for (const { name, target } of variants) {
    const { device } = target!;
    const known = byName.get(device.name) ?? { device, names: [] };
    known.names.push(name);
    byName.set(device.name, known);
  }
  return [...byName.values()];
}

function archOf(variant: string, { model }: IViewContext): string {
  const summary = model.report?.variants.find(({ name }) => name === variant);
  return summary?.target?.arch ?? '';
}

function rowsOf(
  devices: readonly ITargetDevice[],
  context: IViewContext
): IVariantRow[] {
  const { trans } = context;
  const row = (
    head: string,
    cell: (device: Device) => React.ReactNode
  ): IVariantRow => ({
    head,
    cells: devices.map(({ device }) => cell(device))
  });
  const build = (
    head: string,
    cell: (figures: NonNullable<Device['build']>) => React.ReactNode
  ) => row(head, device => (device.build ? cell(device.build) : '–'));
  const rates = new Set(
    devices.flatMap(({ device }) => Object.keys(device.products))
  );
  return [
    row(trans.__('device'), ({ name }) => name),
    {
      head: trans.__('architecture'),
      cells: devices.map(({ names }) => {
        const arch = archOf(names[0], context);
        return arch ? <code>{arch}</code> : '–';
      })
    },
    build(
      trans.__('multiprocessors'),
      ({ multiprocessors }) => multiprocessors
    ),
    build(
      trans.__('registers per multiprocessor'),
      ({ registers_per_multiprocessor: count }) => formatCount(count)
    ),
    build(
      trans.__('shared memory per multiprocessor, per block'),
      ({
        shared_per_multiprocessor_bytes: perMultiprocessor,
        shared_per_block_bytes: block
      }) => `${formatBytes(perMultiprocessor)}, ${formatBytes(block)}`
    ),
    build(trans.__('L2 cache'), ({ l2_bytes: size }) => formatBytes(size)),
    build(trans.__('memory'), ({ memory_bytes: size }) => formatBytes(size)),
    row(
      trans.__('memory bandwidth'),
      ({ bandwidth_bytes_per_s: rate }) => `${formatQuantity(rate, 'B')}/s`
    ),
    ...[...rates].map(dtype =>
      row(trans.__('matrix products, %1', dtype), ({ products }) =>
        dtype in products
          ? `${formatQuantity(products[dtype], dtype.startsWith('int') ? 'OP' : 'FLOP')}/s`
          : '–'
      )
    ),
    row(trans.__('source'), ({ source, build: figures }) =>
      [source, figures?.source]
        .flatMap(document =>
          document?.title ? `${document.title}, ${document.date}` : []
        )
        .filter((line, index, lines) => lines.indexOf(line) === index)
        .map((line, index) => <div key={index}>{line}</div>)
    )
  ];
}
