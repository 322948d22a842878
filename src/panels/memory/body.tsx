import * as React from 'react';
import { Chart } from '../../charts';
import { wrapperName } from '../../model/wrappers';
import type { LayoutChange, Memory } from '../../protocol/types';
import type { Sort } from '../common';
import { Prose, Select, sorted, VirtualTable } from '../common';
import { directionTitle } from '../../words/directions';
import type { IViewContext } from '../views';
import { columnsOf } from './columns';
import { figureOf, heightOf, MAX_BARS } from './figure';
import { Layouts } from './layouts';
import { Legend } from './legend';
import type { IRow } from './rows';
import { largestFirst, linesOf, rowsOf, stageOf } from './rows';
import { Summary } from './summary';

/**
 * The memory of a compilation's wrappers, one at a time.
 *
 * @param props.origin - The view, to recognize its own selections.
 */
export function MemoryBody(props: {
  memories: readonly Memory[];
  layouts: readonly LayoutChange[];
  shown: { readonly variant: string; readonly compilation: string };
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { memories, shown, context, origin } = props;
  const { model, trans } = context;
  const [place, setPlace] = React.useState(0);
  const [sort, setSort] = React.useState<Sort>(null);
  const [chosen, setChosen] = React.useState<number | null>(null);
  const memory = memories[place] ?? memories[0];
  const numbers = numbersOf(memories);
  // Further graphs of a direction have no text.
  const hasText = numbers[memories.indexOf(memory)] === 1;
  const rows = React.useMemo(() => rowsOf(memory), [memory]);
  const figure = React.useMemo(
    () => figureOf(memory, rows, trans),
    [memory, rows]
  );
  const columns = columnsOf(memory, trans);
  const layouts = props.layouts.filter(
    ({ direction }) => direction === memory.direction
  );
  const isMarked = ({ buffer, key }: IRow) =>
    (key !== '' && model.linked.keys.has(key)) ||
    (model.selection.node !== null &&
      buffer.nodes.includes(model.selection.node.name) &&
      model.selection.node.stage === stageOf(memory.direction));
  const choose = (row: IRow) => {
    setChosen(row.place);
    model.select({ key: row.key || null, origin });
  };
  const open = ({ buffer, key }: IRow) => {
    const { artifact, direction } = memory;
    model.select({
      key: key || null,
      text: {
        ...shown,
        artifact: wrapperName(direction, artifact),
        line: buffer.line ?? 1
      },
      origin
    });
    context.open('code');
  };
  const lines = linesOf(rows, Infinity).length;
  return (
    <>
      {memories.length > 1 && (
        <div
          className="jp-Compilescope-controls"
          role="toolbar"
          aria-label={trans.__('Whose memory is shown')}
        >
          <Select
            label={trans.__('Graph')}
            value={`${place}`}
            options={memories.map(({ direction }, index) => ({
              value: `${index}`,
              label:
                directionTitle(direction, trans) +
                (numbers[index] > 1 ? ` ${numbers[index]}` : '')
            }))}
            onChange={value => {
              setPlace(Number(value));
              setChosen(null);
            }}
          />
        </div>
      )}
      <div className="jp-Compilescope-memoryBody">
        <Summary memory={memory} trans={trans} />
        {memory.steps.length > 0 && (
          <Chart
            make={figure}
            height={heightOf(rows)}
            label={trans.__(
              'Live bytes at each launch, and the lifetime of each buffer'
            )}
            onClick={step => {
              const key = memory.keys[Number(step)];
              if (key) {
                model.select({ key, origin });
              }
            }}
          />
        )}
        {memory.steps.length > 0 && <Legend rows={rows} trans={trans} />}
        {lines > MAX_BARS && (
          <p className="jp-Compilescope-hint">
            {trans.__(
              'Showing the %1 largest of %2 allocations.',
              MAX_BARS,
              lines
            )}
          </p>
        )}
        <VirtualTable
          label={trans.__('Buffers')}
          columns={columns}
          rows={sorted(largestFirst(rows), columns, sort)}
          keyOf={row => row.place}
          sort={sort}
          onSort={setSort}
          selected={chosen}
          onSelect={row =>
            hasText && row.place === chosen ? open(row) : choose(row)
          }
          isMarked={isMarked}
          revealKey={model.selection.origin === origin ? null : model.linked}
          none={trans.__('The wrapper allocates no memory.')}
          trans={trans}
        />
        <Layouts layouts={layouts} context={context} origin={origin} />
        <p className="jp-Compilescope-hint">
          <Prose text={memory.how} />
        </p>
      </div>
    </>
  );
}

/**
 * The number of each wrapper's memory among those of its direction, starting at
 * 1.
 */
function numbersOf(memories: readonly Memory[]): number[] {
  return memories.map(
    ({ direction }, index) =>
      memories
        .slice(0, index + 1)
        .filter(other => other.direction === direction).length
  );
}
