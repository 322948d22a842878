import * as React from 'react';
import type { Sweep } from '../../protocol/types';
import { CodeBlock } from '../common';
import type { IViewContext } from '../views';
import { nameOf, shapeTitle } from './phrases';
import type { IRow } from './rows';
import { winnersOf } from './rows';

/**
 * Which variant is fastest, and the code of the one with the lowest median, if
 * it is faster than eager; one for each shape if they differ.
 */
export function Winner(props: {
  sweep: Sweep;
  rows: readonly IRow[];
  context: IViewContext;
}): JSX.Element {
  const { sweep, rows, context } = props;
  const { trans } = context;
  const winners = winnersOf(sweep, rows);
  if (winners.length === 0) {
    return (
      <p className="jp-Compilescope-hint">
        {sweep.state === 'running'
          ? trans.__('Appears once the first cell is measured.')
          : trans.__('No cell was measured.')}
      </p>
    );
  }
  const codes = winners.map(({ cell }) => sweep.codes[cell.shape] ?? '');
  const isOne = codes.every(code => code === codes[0]);
  const code = isOne ? codes[0] || sweep.code : '';
  return (
    <div className="jp-Compilescope-winners">
      {winners.map((winner, place) => (
        <div key={winner.id}>
          {winners.length > 1 && (
            <h4>{shapeTitle(winner.cell.shape, trans)}</h4>
          )}
          <p>{sweep.verdicts[winner.cell.shape] ?? winner.cell.name}</p>
          {!isOne && codes[place] && (
            <CodeBlock
              code={codes[place]}
              label={trans.__('%1 as code', nameOf(winner.cell))}
              trans={trans}
            />
          )}
        </div>
      ))}
      {code && (
        <CodeBlock
          code={code}
          label={trans.__('%1 as code', winners[0].cell.name)}
          trans={trans}
        />
      )}
      {!code && sweep.overall && (
        <p className="jp-Compilescope-muted">{sweep.overall}</p>
      )}
    </div>
  );
}
