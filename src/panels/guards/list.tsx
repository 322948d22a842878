import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { Compilation } from '../../protocol/types';
import type { Sort } from '../common';
import { isSelected, sorted, VirtualTable, VirtualTree } from '../common';
import type { IColumnContext } from './columns';
import { tableColumns, treeColumns } from './columns';
import type { IGuardOptions } from './filter';
import { filterOf, isFiltered } from './filter';
import type { Content, IBranch, IEntry } from './rows';
import {
  arrange,
  depthFor,
  flatten,
  groupsOf,
  keyOf,
  pathTo,
  prune,
  titled,
  treeOf
} from './rows';

/**
 * The maximum number of rows that are unfolded automatically.
 */
const MAX_UNFOLDED_ROWS = 200;

/**
 * The guards, as a tree or as a table.
 */
export function GuardList(props: {
  compilations: readonly Compilation[];
  entries: readonly IEntry[];
  options: IGuardOptions;
  columns: IColumnContext;
  chosen: number | null;
  onChoose: (index: number) => void;
}): JSX.Element {
  const { options, columns } = props;
  const { trans } = columns.context;
  const { selection, linked } = columns.context.model;
  const keep = React.useMemo(
    () => filterOf(options, guard => isSelected(columns.context, guard.origin)),
    [options, selection, linked]
  );
  const none = trans.__('No guard matches the filter.');
  // What was selected here is already visible.
  const revealKey = selection.origin === columns.view ? null : linked;
  const shared = { ...props, keep, none, trans, revealKey };
  return options.arrangement === 'table' ? (
    <FlatList {...shared} />
  ) : (
    <Tree {...shared} />
  );
}

interface IPartProps {
  compilations: readonly Compilation[];
  options: IGuardOptions;
  columns: IColumnContext;
  chosen: number | null;
  onChoose: (index: number) => void;
  entries: readonly IEntry[];
  keep: (entry: IEntry) => boolean;
  none: string;
  revealKey: object | null;
  trans: TranslationBundle;
}

function FlatList(props: IPartProps): JSX.Element {
  const { entries, keep, trans, columns } = props;
  const [sort, setSort] = React.useState<Sort>(null);
  const listColumns = React.useMemo(
    () => tableColumns(columns),
    [
      columns.scale,
      columns.hasCosts,
      columns.hasHits,
      columns.hasFails,
      columns.graphs !== null
    ]
  );
  const rows = React.useMemo(
    () => sorted(entries.filter(keep), listColumns, sort),
    [entries, keep, sort, listColumns]
  );
  return (
    <VirtualTable
      label={trans.__('Guards')}
      columns={listColumns}
      rows={rows}
      keyOf={row => row.index}
      sort={sort}
      onSort={setSort}
      selected={props.chosen}
      onSelect={row => props.onChoose(row.index)}
      revealKey={props.revealKey}
      isMarked={row => isSelected(columns.context, row.guard.origin)}
      none={props.none}
      trans={trans}
    />
  );
}

function Tree(props: IPartProps): JSX.Element {
  const { compilations, options, columns, entries, keep, chosen, trans } =
    props;
  const { arrangement, order } = options;
  // What the user folded or unfolded; the rest is unfolded as deep as fits.
  const [folds, setFolds] = React.useState<ReadonlyMap<string, boolean>>(
    () => new Map()
  );
  const [selected, setSelected] = React.useState<string | null>(null);
  const whole = React.useMemo(() => {
    const branchesOf = (
      own: readonly IEntry[],
      { guard_tree }: Compilation,
      prefix: string
    ) =>
      arrangement === 'tree'
        ? treeOf(own, guard_tree, prefix)
        : groupsOf(own, prefix);
    const { graphs } = columns;
    return graphs === null
      ? compilations.flatMap(each => branchesOf(entries, each, ''))
      : compilations.map(each => {
          const { id } = each;
          const own = entries.filter(entry => entry.compilation === id);
          const branches = branchesOf(own, each, `${id} `);
          return titled(id, graphs.get(id)?.title ?? id, branches);
        });
  }, [entries, arrangement, columns.graphs !== null]);
  React.useEffect(() => setFolds(new Map()), [whole]);
  const filtered = isFiltered(options);
  const branches = React.useMemo(
    () => arrange(filtered ? prune(whole, keep) : whole, order),
    [whole, filtered, keep, order]
  );
  // Of many graphs the first would hide the others.
  const isOfMany =
    columns.graphs !== null && entries.length > MAX_UNFOLDED_ROWS;
  const depth = React.useMemo(
    () => (isOfMany ? 0 : depthFor(branches, MAX_UNFOLDED_ROWS)),
    [branches, isOfMany]
  );
  // The results of a filter are always unfolded.
  const isOpen = (branch: IBranch, level: number) =>
    folds.get(branch.key) ?? (filtered || level <= depth);
  const items = React.useMemo(
    () => flatten(branches, isOpen),
    [branches, folds, depth, filtered]
  );
  const toggle = (key: string, open: boolean) =>
    setFolds(new Map(folds).set(key, open));
  const entry = chosen === null ? undefined : entries[chosen];
  React.useEffect(() => {
    if (entry) {
      const path = pathTo(whole, entry.index);
      setFolds(before => {
        const after = new Map(before);
        path.forEach(key => after.set(key, true));
        return after;
      });
      setSelected(keyOf(entry));
    }
  }, [entry, whole]);
  return (
    <VirtualTree<Content>
      label={
        arrangement === 'tree'
          ? trans.__('Guards, as torch’s tree')
          : trans.__('Guards by source')
      }
      columns={treeColumns(columns)}
      items={items}
      selected={selected}
      revealKey={props.revealKey}
      isMarked={content =>
        content.kind === 'guard' &&
        isSelected(columns.context, content.entry.guard.origin)
      }
      onToggle={(item, open) => toggle(item.key, open)}
      onSelect={item => {
        setSelected(item.key);
        if (item.content.kind === 'guard') {
          props.onChoose(item.content.entry.index);
        } else {
          toggle(item.key, !item.isOpen);
        }
      }}
      none={props.none}
      trans={trans}
    />
  );
}
