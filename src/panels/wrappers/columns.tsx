import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { SourceLine, Step, Steps } from '../../protocol/types';
import type { IColumn } from '../common';
import { Bar, SourceLink } from '../common';
import {
  formatInterval,
  formatMicroseconds,
  formatPlace
} from '../../words/format';
import type { IViewContext } from '../views';
import { kindClass, kindTitle } from '../../words/steps';
import type { IRow } from './stepRows';
import type { IGraph } from './types';

type OnLine = (row: IRow, side: Steps['artifact'], step: Step) => void;

/**
 * The columns of the table of steps. A narrow table has no bars.
 *
 * @param names - The variants' names.
 * @param onLine - Shows a step in the Code view; null if it has no text.
 */
export function columnsOf(
  graph: IGraph,
  names: Readonly<Record<Steps['artifact'], string>>,
  rows: readonly IRow[],
  context: IViewContext,
  origin: object,
  onLine: OnLine | null
): IColumn<IRow>[] {
  const { trans } = context;
  const files = context.model.report?.files ?? {};
  const placeOf = (where: SourceLine) => formatPlace(where, files, trans);
  const sourceOf = (row: IRow) => ownSource(row, files);
  const longest = Math.max(
    0,
    ...rows.flatMap(({ python, cpp }) => [python?.us ?? 0, cpp?.us ?? 0])
  );
  const side = (of: Steps['artifact'], label: string): IColumn<IRow>[] => {
    const steps = graph[of];
    if (steps === null) {
      return [];
    }
    const isMeasured = steps.whole_us !== null;
    return [
      {
        id: `${of} line`,
        label,
        title: trans.__('The lines of %1', names[of]),
        width: '68px',
        isNumber: true,
        from: isMeasured ? 520 : undefined,
        render: row => <Line row={row} of={of} trans={trans} onLine={onLine} />
      },
      ...(isMeasured
        ? [
            {
              id: `${of} time`,
              label: trans.__('%1, time', label),
              title: trans.__('Host time of the step per call'),
              width: '76px',
              isNumber: true,
              render: (row: IRow) => <Cost step={row[of]} trans={trans} />
            },
            {
              id: `${of} bar`,
              label: '',
              width: 'minmax(40px, 1fr)',
              from: 760,
              render: (row: IRow) =>
                row[of] && longest > 0 ? (
                  <Bar share={(row[of]?.us ?? 0) / longest} />
                ) : null
            }
          ]
        : [])
    ];
  };
  return [
    {
      id: 'kind',
      label: trans.__('Step'),
      width: 'minmax(112px, 1fr)',
      text: row => `  ${kindTitle(kindOf(row))}`,
      render: row => {
        const kind = kindOf(row);
        return (
          <>
            <span className={kindClass(kind)} aria-hidden="true" />
            {kindTitle(kind)}
          </>
        );
      }
    },
    {
      id: 'label',
      label: trans.__('Buffer or kernel'),
      width: 'minmax(80px, 2fr)',
      from: 420,
      render: row => <Label row={row} />
    },
    ...side('python', trans.__('Python')),
    ...side('cpp', trans.__('C++')),
    {
      id: 'source',
      label: trans.__('Source'),
      width: 'minmax(104px, 1fr)',
      text: row => {
        const where = sourceOf(row);
        return where ? placeOf(where) : '';
      },
      from: 900,
      hasValue: row => sourceOf(row) !== undefined,
      render: row => {
        const where = sourceOf(row);
        return where ? (
          <SourceLink where={where} context={context} origin={origin} isInRow />
        ) : null;
      }
    }
  ];
}

function kindOf({ python, cpp }: IRow): Step['kind'] {
  return (python ?? cpp)!.kind;
}

/**
 * The line that a step comes from: in the notebook, if one of them is.
 */
function ownSource(
  { python, cpp }: IRow,
  files: Readonly<Record<string, string>>
): SourceLine | undefined {
  const sources = (python?.sources.length ? python : cpp)?.sources ?? [];
  return sources.find(({ file }) => file in files) ?? sources[0];
}

function Label(props: { row: IRow }): JSX.Element | null {
  const { python, cpp } = props.row;
  const label = (python ?? cpp)?.label ?? '';
  const other = cpp?.label ?? label;
  return label ? (
    <code title={label === other ? label : `${label}\n${other}`}>{label}</code>
  ) : null;
}

function Line(props: {
  row: IRow;
  of: Steps['artifact'];
  trans: TranslationBundle;
  onLine: OnLine | null;
}): JSX.Element {
  const { row, of, trans, onLine } = props;
  const step = row[of];
  if (step === null) {
    return (
      <span
        className="jp-Compilescope-muted"
        title={trans.__('This wrapper has no such step here')}
      >
        –
      </span>
    );
  }
  const { start, end } = step;
  const lines = start === end ? start : `${start}–${end}`;
  return onLine === null ? (
    <span>{lines}</span>
  ) : (
    <button
      type="button"
      className="jp-Compilescope-link jp-mod-code"
      tabIndex={-1}
      title={trans.__('Show line %1 in the code', start)}
      onClick={event => {
        event.stopPropagation();
        onLine(row, of, step);
      }}
    >
      {lines}
    </button>
  );
}

function Cost(props: {
  step: Step | null;
  trans: TranslationBundle;
}): JSX.Element {
  const { step, trans } = props;
  if (step === null || step.us === null) {
    return (
      <span
        className="jp-Compilescope-muted"
        title={step ? trans.__('This path was not executed') : undefined}
      >
        –
      </span>
    );
  }
  const { us, interval_us: interval, how } = step;
  return (
    <span
      title={[
        interval && trans.__('95 % interval %1', formatInterval(interval)),
        how
      ]
        .filter(Boolean)
        .join('\n')}
    >
      {formatMicroseconds(us)}
    </span>
  );
}
