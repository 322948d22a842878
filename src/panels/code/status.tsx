import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import * as React from 'react';
import { formatMicroseconds, formatPlace } from '../../words/format';
import { kindTitle } from '../../words/steps';
import type { Side } from '../../code/artifacts';
import type { ICursorCosts } from '../../code/costs';
import { kindLabel, shortList, title } from '../../code/describe';
import type { IHighlight } from '../../code/regions/selectionMarks';
import type { ISubjectModel, Region, SourceLine } from '../../code/types';

/** The maximum numbers of nodes and source lines that fit into the line. */
const MAX_NODES = 4;
const MAX_SOURCES = 4;

/**
 * What the status line shows.
 */
export interface IStatusState {
  /** The region that represents the selection; null if nothing is selected. */
  region: Region | null;
  /** The cost of the step at the cursor, or of the selected one; null if unknown. */
  costs: ICursorCosts | null;
  /** The number of marked regions on either side. */
  left: number;
  right: number;
  /** The selected line of the user's code, if nothing in the generated code comes from it. */
  unmatched: string | null;
  files: Readonly<Record<string, string>>;
}

/**
 * The text of the status line for the selection and its marks.
 */
export function statusOf(
  { report, selection }: Pick<ISubjectModel, 'report' | 'selection'>,
  { left, right }: Readonly<Record<Side, IHighlight>>,
  costs: ICursorCosts | null,
  trans: TranslationBundle
): IStatusState {
  const files = report?.files ?? {};
  const strong = [...left.strong, ...right.strong];
  const region =
    strong.find(item => item.kind === 'launch') ?? strong[0] ?? null;
  return {
    region,
    costs,
    left: left.strong.length,
    right: right.strong.length,
    unmatched:
      !region && selection.source
        ? formatPlace(selection.source, files, trans)
        : null,
    files
  };
}

/**
 * A line below the panes that describes the selection, also for screen readers.
 */
export class SelectionStatus extends ReactWidget {
  constructor(select: (source: SourceLine) => void, trans: TranslationBundle) {
    super();
    this._select = select;
    this._trans = trans;
    this.addClass('jp-Compilescope-code-status');
  }

  set state(state: IStatusState) {
    this._state = state;
    this.update();
  }

  protected override render(): JSX.Element {
    return (
      <Status {...this._state} select={this._select} trans={this._trans} />
    );
  }

  private _state: IStatusState = {
    region: null,
    costs: null,
    left: 0,
    right: 0,
    unmatched: null,
    files: {}
  };
  private _select: (source: SourceLine) => void;
  private _trans: TranslationBundle;
}

interface IStatusProps extends IStatusState {
  select: (source: SourceLine) => void;
  trans: TranslationBundle;
}

function Status(props: IStatusProps): JSX.Element {
  const { files, region, costs, trans } = props;
  const nodes = region ? shortList(region.nodes, MAX_NODES, trans) : '';
  const sources = region ? distinct(region.sources, files, trans) : [];
  return (
    <>
      {region ? (
        <span className="jp-Compilescope-code-selected">
          <span className="jp-Compilescope-code-kind">
            {kindLabel(region.kind, trans)}
          </span>
          <code title={region.label}>{title(region, trans)}</code>
          {nodes && (
            <span
              className="jp-Compilescope-code-nodes"
              title={region.nodes.join(', ')}
            >
              {nodes}
            </span>
          )}
          {sources.slice(0, MAX_SOURCES).map(([text, source]) => (
            <button
              key={text}
              type="button"
              className="jp-Compilescope-code-source"
              title={`${source.file}:${source.line}\n${source.code}`}
              aria-label={trans.__('Select source line %1', text)}
              onClick={() => props.select(source)}
            >
              {text}
            </button>
          ))}
          {sources.length > MAX_SOURCES && (
            <span>{trans.__('+%1', sources.length - MAX_SOURCES)}</span>
          )}
        </span>
      ) : costs ? null : (
        <span className="jp-Compilescope-code-hint">
          {props.unmatched
            ? trans.__('No line here comes from %1.', props.unmatched)
            : trans.__(
                'Click a line to find its counterpart. Alt+↓: next launch. Esc: clear.'
              )}
        </span>
      )}
      {costs && (
        <span className="jp-Compilescope-code-statusCost">
          {costText(costs, trans)}
        </span>
      )}
      <span className="jp-Compilescope-hidden" aria-live="polite">
        {announcement(props, nodes)}
      </span>
    </>
  );
}

function announcement(props: IStatusProps, nodes: string): string {
  const { region, costs, trans } = props;
  const cost = costs && costText(costs, trans);
  if (!region) {
    return [
      props.unmatched &&
        trans.__('No line here comes from %1.', props.unmatched),
      cost
    ]
      .filter(Boolean)
      .join(' ');
  }
  return [
    `${kindLabel(region.kind, trans)} ${title(region, trans)}`,
    nodes,
    trans.__('%1 marked left, %2 marked right', props.left, props.right),
    cost
  ]
    .filter(Boolean)
    .join('. ');
}

/** The cost of a step: `Host time of the step “kernel launch”: 12.0 µs left`. */
function costText(
  { kind, left, right }: ICursorCosts,
  trans: TranslationBundle
): string {
  const figure = (us: number | null) =>
    us === null ? trans.__('not measured') : formatMicroseconds(us);
  const sides = [
    left && trans.__('%1 left', figure(left.us)),
    right && trans.__('%1 right', figure(right.us))
  ];
  return trans.__(
    'Host time of the step “%1”: %2',
    kindTitle(kind),
    sides.filter(Boolean).join(', ')
  );
}

/** The source lines by their text, innermost first, without duplicates. */
function distinct(
  sources: readonly SourceLine[],
  files: Readonly<Record<string, string>>,
  trans: TranslationBundle
): [string, SourceLine][] {
  const byText = new Map<string, SourceLine>();
  // Lines of the user's own cell first, since those can be changed.
  const inCells = sources.filter(source => source.file in files);
  const others = sources.filter(source => !(source.file in files));
  for (const source of [...inCells.reverse(), ...others.reverse()]) {
    byText.set(formatPlace(source, files, trans), source);
  }
  return [...byText];
}
