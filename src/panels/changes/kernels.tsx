import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Changes, KernelChange } from '../../protocol/types';
import type { BadgeKind, IColumn, Sort } from '../common';
import { Badge, compareNumbers, Prose, sorted, VirtualTable } from '../common';
import { declaredColumns } from '../common/tables/declared';
import { TABLES } from '../../words/tables';
import type { IViewContext } from '../views';
import { formatCount } from '../../words/format';

type Outcome = KernelChange['outcome'];

const ORDER: readonly Outcome[] = [
  'differs',
  'added',
  'removed',
  'renamed',
  'identical'
];

/**
 * The kernels of a variant next to those of its baseline, differing ones first.
 */
export function KernelTable(props: {
  variant: string;
  changes: Changes;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { variant, changes, context, origin } = props;
  const { trans } = context;
  const [sort, setSort] = React.useState<Sort>(null);
  const [chosen, setChosen] = React.useState<string | null>(null);
  const rows = React.useMemo(() => inOrder(changes.kernels), [changes]);
  const columns = columnsOf(changes.baseline, trans);
  const row = rows.find(kernelChange => keyOf(kernelChange) === chosen) ?? null;
  return (
    <>
      <div
        className="jp-Compilescope-changesTable"
        style={{ height: Math.min(rows.length, 12) * 24 + 30 }}
      >
        <VirtualTable
          label={trans.__('Kernels side by side')}
          columns={columns}
          rows={sorted(rows, columns, sort)}
          keyOf={keyOf}
          sort={sort}
          onSort={setSort}
          trans={trans}
          selected={chosen}
          onSelect={kernelChange => setChosen(keyOf(kernelChange))}
        />
      </div>
      {row && (
        <KernelDetails
          row={row}
          variant={variant}
          baseline={changes.baseline}
          context={context}
          origin={origin}
        />
      )}
    </>
  );
}

function KernelDetails(props: {
  row: KernelChange;
  variant: string;
  baseline: string;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { row, variant, baseline, context, origin } = props;
  const { model, trans } = context;
  const { kernel, lines, why, language } = row;
  const artifact = (name: string) => `kernel.${row.direction}.${name}`;
  const open = () => {
    const isHere = kernel !== '';
    model.select({
      kernel: kernel || row.baseline,
      text: {
        variant: isHere ? variant : baseline,
        compilation: isHere ? row.compilation : row.baseline_compilation,
        artifact: artifact(kernel || row.baseline),
        line: null,
        ...(isHere &&
          row.baseline && {
            beside: artifact(row.baseline),
            besideVariant: baseline,
            besideCompilation: row.baseline_compilation
          })
      },
      origin
    });
    context.open('code');
  };
  return (
    <article className="jp-Compilescope-card">
      <header>
        <h3>
          <code>{kernel || row.baseline}</code>
        </h3>
        <OutcomeBadge outcome={row.outcome} trans={trans} />
      </header>
      {row.baseline && row.baseline !== kernel && (
        <p>
          {trans.__('In %1:', baseline)} <code>{row.baseline}</code>
        </p>
      )}
      {row.outcome === 'differs' && lines > 0 && (
        <p>
          {trans._n(
            '%2 line differs.',
            '%2 lines differ.',
            lines,
            formatCount(lines)
          )}
        </p>
      )}
      {why && (
        <p className="jp-Compilescope-words">
          <Prose text={why} />
        </p>
      )}
      {language !== 'extern' && (
        <footer>
          <button
            type="button"
            className="jp-Compilescope-button"
            onClick={open}
          >
            {kernel && row.baseline
              ? trans.__('Compare in Code')
              : trans.__('Show code')}
          </button>
        </footer>
      )}
    </article>
  );
}

function OutcomeBadge(props: {
  outcome: Outcome;
  trans: TranslationBundle;
}): JSX.Element {
  const { outcome, trans } = props;
  const kinds: Record<Outcome, BadgeKind> = {
    identical: 'good',
    renamed: 'good',
    differs: 'warning',
    added: 'info',
    removed: 'info'
  };
  return (
    <Badge kind={kinds[outcome]}>
      {TABLES.changed_kernels(trans).outcome.words[outcome]}
    </Badge>
  );
}

function columnsOf(
  baseline: string,
  trans: TranslationBundle
): readonly IColumn<KernelChange>[] {
  return declaredColumns('changed_kernels', trans, {
    outcome: {
      width: '84px',
      render: ({ outcome }) => <OutcomeBadge outcome={outcome} trans={trans} />,
      compare: (a, b) => ORDER.indexOf(a.outcome) - ORDER.indexOf(b.outcome)
    },
    kernel: {
      width: 'minmax(90px, 3fr)',
      render: ({ kernel }) => (
        <code title={kernel || undefined}>{kernel || '–'}</code>
      ),
      compare: (a, b) => a.kernel.localeCompare(b.kernel)
    },
    baseline: {
      label: trans.__('in %1', baseline),
      width: 'minmax(90px, 2fr)',
      from: 520,
      render: row =>
        row.baseline === row.kernel ? (
          <span className="jp-Compilescope-muted">{trans.__('the same')}</span>
        ) : (
          <code title={row.baseline || undefined}>{row.baseline || '–'}</code>
        )
    },
    lines: {
      width: '48px',
      from: 360,
      render: ({ lines }) => (lines ? lines : ''),
      compare: (a, b) => compareNumbers(a.lines, b.lines)
    },
    why: {
      width: 'minmax(120px, 4fr)',
      from: 680,
      render: ({ why }) => <span title={why || undefined}>{why}</span>
    }
  });
}

function keyOf(row: KernelChange): string {
  return JSON.stringify([
    row.compilation || row.baseline_compilation,
    row.direction,
    row.kernel,
    row.baseline
  ]);
}

function inOrder(kernels: readonly KernelChange[]): readonly KernelChange[] {
  return ORDER.flatMap(outcome =>
    kernels.filter(kernel => kernel.outcome === outcome)
  );
}
