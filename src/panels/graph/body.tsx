import * as React from 'react';
import type { IViewContext } from '../views';
import { Decompositions } from './aside/decompositions';
import { StageProgram } from './aside/program';
import { Pane } from './pane';
import { GraphToolbar } from './toolbar';
import type { IGraphData, IPaneHandle, ISettings } from './types';

/**
 * The initial stage: the one from which Inductor generates code.
 */
function firstStage({ stages }: IGraphData): string {
  return (
    ['post_grad', 'forward', 'inference', 'dynamo'].find(stage =>
      stages.includes(stage)
    ) ?? stages[0]
  );
}

/**
 * One graph, or two side by side, and what they share: the settings and the
 * selection.
 */
export function GraphBody(props: {
  context: IViewContext;
  data: IGraphData;
  origin: object;
}): JSX.Element {
  const { context, data, origin } = props;
  const { trans } = context;
  const [settings, setSettings] = React.useState<ISettings>({
    mode: data.kernels.length > 0 ? 'kernel' : 'kind',
    basis: null,
    query: '',
    isOutlined: false,
    isListed: false
  });
  const [picked, setPicked] = React.useState<readonly string[]>([]);
  const [active, setActive] = React.useState(0);
  const handles = React.useRef<(IPaneHandle | null)[]>([null, null]);
  // After a change of grouping the whole graph is shown, not only its beginning.
  const [isRegrouped, setRegrouped] = React.useState(false);
  const [reproduced, setReproduced] = React.useState<string | null>(null);
  const known = picked.filter(stage => data.stages.includes(stage));
  const panes = known.length > 0 ? known : [firstStage(data)];
  const pick = (side: number, stage: string) =>
    setPicked(panes.map((pane, i) => (i === side ? stage : pane)));
  const side = Math.min(active, panes.length - 1);
  const split = () => {
    const { stages } = data;
    const at = stages.indexOf(panes[0]);
    setPicked(
      panes.length > 1
        ? [panes[side]]
        : [
            stages.includes('dynamo') && at > 0 ? 'dynamo' : stages[at],
            panes[0]
          ]
    );
    setActive(panes.length > 1 ? 0 : 1);
  };
  return (
    <>
      <GraphToolbar
        trans={trans}
        data={data}
        shown={panes}
        settings={settings}
        onSettings={change => {
          setSettings({ ...settings, ...change });
          setRegrouped(isRegrouped || change.basis !== undefined);
        }}
        isSplit={panes.length > 1}
        onSplit={split}
        handle={() => handles.current[side]}
        onAll={isOpen =>
          handles.current.forEach(handle =>
            isOpen ? handle?.openAll() : handle?.closeAll()
          )
        }
        onProgram={
          context.model.isLive ? () => setReproduced(panes[side]) : null
        }
      />
      <div className="jp-Compilescope-graph-panes">
        {panes.map((stage, i) => (
          <Pane
            key={i}
            context={context}
            data={data}
            stage={stage}
            beside={panes[1 - i] ?? null}
            isFitted={panes.length > 1 || isRegrouped}
            onStage={next => pick(i, next)}
            settings={settings}
            isActive={panes.length > 1 && i === side}
            onActive={() => setActive(i)}
            handleRef={handle => (handles.current[i] = handle)}
            origin={origin}
          />
        ))}
        {reproduced !== null && (
          <StageProgram
            context={context}
            data={data}
            stage={reproduced}
            onClose={() => setReproduced(null)}
          />
        )}
        {settings.isListed && (
          <Decompositions
            context={context}
            data={data}
            go={(stage, name) => {
              if (!panes.includes(stage)) {
                pick(side, stage);
              }
              // As if selected elsewhere: the drawing scrolls to selections of
              // other views.
              context.model.select({ node: { stage, name }, origin: handles });
            }}
          />
        )}
      </div>
    </>
  );
}
