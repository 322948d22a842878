import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { IColoring } from '../../../graph/color/coloring';
import { GHOST } from '../../../graph/diff/ghosts';
import { shapeText, shorten, shortTarget } from '../../../graph/labels';
import type { IPrepared } from '../../../graph/prepare';
import { nodeFacts } from '../aside/facts';
import { countNodes, swatchTitle } from '../words';

/**
 * The details of the item under the pointer.
 */
export function Tooltip(props: {
  prepared: IPrepared;
  item: number;
  x: number;
  y: number;
  coloring: IColoring;
  trans: TranslationBundle;
}): JSX.Element {
  const { prepared, item, x, y, trans } = props;
  const ref = React.useRef<HTMLDivElement>(null);
  const [place, setPlace] = React.useState<{ left: number; top: number }>({
    left: x + 14,
    top: y + 14
  });
  React.useLayoutEffect(() => {
    const node = ref.current;
    const parent = node?.parentElement;
    if (node && parent) {
      const { offsetWidth: width, offsetHeight: height } = node;
      const right = x + 14 + width > parent.clientWidth;
      const below = y + 14 + height > parent.clientHeight;
      setPlace({
        left: Math.max(4, right ? x - 10 - width : x + 14),
        top: Math.max(4, below ? y - 10 - height : y + 14)
      });
    }
  }, [item, x, y]);
  const count = prepared.graph.nodes.length;
  return (
    <div
      ref={ref}
      className="jp-Compilescope-graph-tooltip"
      role="tooltip"
      style={place}
    >
      {item < count ? (
        <>
          <strong>{prepared.graph.nodes[item].name.replace(GHOST, '')}</strong>
          <dl>
            {nodeFacts(prepared, item, trans).map(({ label, value }) => (
              <React.Fragment key={label}>
                <dt>{label}</dt>
                <dd>{shorten(value, 160)}</dd>
              </React.Fragment>
            ))}
          </dl>
        </>
      ) : (
        <GroupTip {...props} group={item - count} />
      )}
    </div>
  );
}

function GroupTip(props: {
  prepared: IPrepared;
  group: number;
  coloring: IColoring;
  trans: TranslationBundle;
}): JSX.Element {
  const { prepared, group, coloring, trans } = props;
  const { id, type, size } = prepared.grouping.groups[group];
  const counts = new Map<number, number>();
  for (const node of allNodes(prepared, group)) {
    const swatch = coloring.of[node];
    if (swatch >= 0) {
      counts.set(swatch, (counts.get(swatch) ?? 0) + 1);
    }
  }
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6);
  return (
    <>
      <strong>{id.replace(/\//g, '.')}</strong>
      <p>{[type, countNodes(size, trans)].filter(Boolean).join(' · ')}</p>
      {most.length > 0 && (
        <dl>
          {most.map(([swatch, n]) => (
            <React.Fragment key={swatch}>
              <dt>{n}</dt>
              <dd>
                {swatchTitle(coloring.mode, coloring.swatches[swatch], trans)}
              </dd>
            </React.Fragment>
          ))}
        </dl>
      )}
    </>
  );
}

/**
 * The nodes in a group, including those in nested groups.
 */
function allNodes({ grouping }: IPrepared, group: number): number[] {
  const { nodes, groups } = grouping.groups[group];
  const inner = groups.flatMap(child =>
    allNodes({ grouping } as IPrepared, child)
  );
  return [...nodes, ...inner];
}

/**
 * An item as a sentence, for screen readers.
 */
export function describe(
  { graph, grouping }: IPrepared,
  item: number,
  open: ReadonlySet<string>,
  trans: TranslationBundle
): string {
  const count = graph.nodes.length;
  if (item >= count) {
    const { id, label, type, size } = grouping.groups[item - count];
    const state = open.has(id) ? trans.__('open') : trans.__('closed');
    return [trans.__('group %1', label), type, countNodes(size, trans), state]
      .filter(Boolean)
      .join(', ');
  }
  const node = graph.nodes[item];
  const source = node.sources[node.sources.length - 1];
  return [
    node.name.startsWith(GHOST)
      ? trans.__('removed: %1', node.name.replace(GHOST, ''))
      : node.name,
    shortTarget(node),
    shapeText(node),
    node.inputs.length > 0 && trans.__('inputs: %1', node.inputs.join(', ')),
    trans._n('%1 user', '%1 users', node.users.length),
    node.module && trans.__('in %1', node.module),
    source && trans.__('line %1', source.line)
  ]
    .filter(Boolean)
    .join(', ');
}
