import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { IColoring, ISwatch } from '../../../graph/color/coloring';
import { isLastStage } from '../../../graph/kernels';
import { shorten } from '../../../graph/labels';
import type { IPrepared } from '../../../graph/prepare';
import { Elided } from '../../common/tables/elided';
import type { IViewContext } from '../../views';
import { modeTitle, stageTitle, swatchTitle } from '../words';
import { formatCount } from '../../../words/format';

const INITIAL_ROWS = 12;

/**
 * In a narrower pane, where the legend would cover the graph, it is folded
 * initially.
 */
const NARROW = 760;

/**
 * The meaning of colors and bars, and what could not be drawn.
 */
export function Legend(props: {
  coloring: IColoring;
  prepared: IPrepared;
  context: IViewContext;

  /**
   * Why the coloring differs from the requested one; empty if it does not.
   */
  instead: string;
}): JSX.Element {
  const { coloring, prepared, context } = props;
  const { trans } = context;
  // Null until the user folds or unfolds it.
  const [chosen, setChosen] = React.useState<boolean | null>(null);
  const [isNarrow, setNarrow] = React.useState(false);
  const isOpen = chosen ?? !isNarrow;
  const [isAll, setAll] = React.useState(false);
  const id = React.useId();
  const ref = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    const pane = ref.current?.parentElement;
    if (!pane) {
      return;
    }
    // A hidden element has no width.
    const measure = () =>
      pane.clientWidth > 0 && setNarrow(pane.clientWidth < NARROW);
    measure();
    if (typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(measure);
    observer.observe(pane);
    return () => observer.disconnect();
  }, []);
  const { mode } = coloring;
  const used = coloring.swatches.filter(({ count }) => count > 0);
  const shown = isAll ? used : used.slice(0, INITIAL_ROWS);
  const Caret = isOpen ? caretDownIcon : caretRightIcon;
  const stop = (event: React.SyntheticEvent) => event.stopPropagation();
  return (
    <div
      ref={ref}
      className="jp-Compilescope-graph-legend"
      onKeyDown={stop}
      onPointerDown={stop}
    >
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setChosen(!isOpen)}
      >
        <Caret.react tag="span" width="14px" height="14px" />
        {modeTitle(mode, trans)}
      </button>
      {isOpen && (
        <div id={id}>
          {props.instead && <p>{props.instead}</p>}
          {mode === 'time' && used.length > 0 && (
            <p>{trans.__('measured, per launch')}</p>
          )}
          {mode === 'kernel' && !isLastStage(prepared.stage) && (
            <p>{trans.__('only nodes that no later pass changed')}</p>
          )}
          {mode === 'change' && prepared.diff && (
            <p>
              {trans.__('since “%1”', stageTitle(prepared.diff.before, trans))}
            </p>
          )}
          <ul>
            {shown.map(swatch => (
              <li key={swatch.id}>
                <Swatch swatch={swatch} />
                <Elided text={swatchTitle(mode, swatch, trans)} />
                <span className="jp-Compilescope-graph-count">
                  {formatCount(swatch.count)}
                </span>
              </li>
            ))}
          </ul>
          {used.length === 0 && <p>{whyNone(props)}</p>}
          {used.length > INITIAL_ROWS && (
            <button type="button" onClick={() => setAll(!isAll)}>
              {isAll
                ? trans.__('Show fewer')
                : trans.__('%1 more', used.length - INITIAL_ROWS)}
            </button>
          )}
          {mode === 'change' && <RemovedNodes {...props} />}
        </div>
      )}
    </div>
  );
}

function whyNone({
  coloring,
  prepared,
  context
}: {
  coloring: IColoring;
  prepared: IPrepared;
  context: IViewContext;
}): string {
  const { trans } = context;
  switch (coloring.mode) {
    case 'kernel':
      return isLastStage(prepared.stage)
        ? trans.__('No kernel is linked to a node of this graph.')
        : trans.__(
            'Kernels are generated from the post-grad graph: switch to that stage.'
          );
    case 'time':
      return trans.__(
        'No kernel is measured: use “Measure kernels” in the Kernels view.'
      );
    case 'change':
      return prepared.diff ? '' : trans.__('This is the first stage.');
    default:
      return trans.__('torch records none for these nodes.');
  }
}

/**
 * The removed nodes: nothing in this stage comes from them.
 */
function RemovedNodes(props: {
  prepared: IPrepared;
  context: IViewContext;
}): JSX.Element | null {
  const { prepared, context } = props;
  const { trans } = context;
  const { diff, unplaced } = prepared;
  if (!diff || (diff.removed.length === 0 && diff.elsewhere === 0)) {
    return null;
  }
  return (
    <>
      {diff.elsewhere > 0 && (
        <p>
          {trans._n(
            '%2 node is in the other half of the joint graph',
            '%2 nodes are in the other half of the joint graph',
            diff.elsewhere,
            formatCount(diff.elsewhere)
          )}
        </p>
      )}
      {diff.removed.length > 0 && (
        <details>
          <summary>
            {trans._n(
              '%2 removed node',
              '%2 removed nodes',
              diff.removed.length,
              formatCount(diff.removed.length)
            )}
            {unplaced > 0 &&
              ` (${trans.__('%1 not drawn', formatCount(unplaced))})`}
          </summary>
          <ul className="jp-Compilescope-graph-removed">
            {diff.removed.slice(0, 500).map(({ node }) => (
              <li key={node.name} title={`${node.target} ${node.args}`}>
                <code>{shorten(node.name, 34)}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Swatch({ swatch }: { swatch: ISwatch }): JSX.Element {
  const { color, shape, sign } = swatch;
  return (
    <span
      className={
        `jp-Compilescope-graph-swatch jp-mod-shape${shape}` +
        (color < 0 ? ' jp-mod-none' : ` jp-mod-color${color}`)
      }
      aria-hidden="true"
    >
      {sign}
    </span>
  );
}
