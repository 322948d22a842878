import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { Artifact } from '../../../protocol/types';
import { Select, useLoaded, ViewFrame } from '../../common';
import { IconButton } from '../../common/button';
import type { IViewContext } from '../../views';
import { TextDiff } from './diff';

/**
 * The texts of a frame's compilations that can be compared; the first that both
 * have is used.
 */
const FIRST = ['graph.post_grad', 'graph.dynamo', 'python', 'cpp'];

/**
 * The same text of two compilations, as a diff.
 */
export function Compare(props: {
  variant: string;

  /**
   * The compile ids of the frame.
   */
  ids: readonly string[];
  from: string;
  to: string;
  onChange: (from: string, to: string) => void;
  onClose: () => void;
  context: IViewContext;
}): JSX.Element {
  const { variant, ids, from, to, onChange, context } = props;
  const { model, trans } = context;
  const title = React.useId();
  const node = React.useRef<HTMLElement>(null);
  React.useEffect(() => {
    node.current?.scrollIntoView?.({ block: 'nearest' });
    node.current?.focus({ preventScroll: true });
  }, []);
  const artifacts = commonArtifacts(context, variant, from, to);
  const [chosen, setChosen] = React.useState('');
  const name =
    [chosen, ...FIRST].find(candidate =>
      artifacts.some(a => a.name === candidate)
    ) ??
    artifacts[0]?.name ??
    '';
  const load = (id: string) => model.getArtifact(variant, id, name);
  const texts = useLoaded(
    name ? () => Promise.all([load(from), load(to)]) : null,
    JSON.stringify([model.report?.revision, variant, from, to, name]),
    trans.__('Loading both…')
  );
  const options = ids.map(id => ({ value: id, label: id }));
  return (
    <section
      ref={node}
      className="jp-Compilescope-compare"
      aria-labelledby={title}
      tabIndex={-1}
    >
      <header>
        <h3 id={title}>{trans.__('%1 against %2', from, to)}</h3>
        <Select
          label={trans.__('Compilation')}
          value={from}
          options={options}
          onChange={value => onChange(value, to)}
        />
        <Select
          label={trans.__('against')}
          value={to}
          options={options}
          onChange={value => onChange(from, value)}
        />
        <Select
          label={trans.__('Text')}
          value={name}
          options={artifacts.map(artifact => ({
            value: artifact.name,
            label: artifact.label
          }))}
          onChange={setChosen}
          disabled={artifacts.length === 0}
        />
        <IconButton
          icon={closeIcon}
          label={trans.__('Close the comparison')}
          onClick={props.onClose}
        />
      </header>
      <ViewFrame
        state={
          name
            ? texts
            : {
                kind: 'empty',
                what: trans.__('Nothing to compare'),
                why: trans.__('%1 and %2 have no text in common.', from, to)
              }
        }
        trans={trans}
        show={([left, right]) => (
          <TextDiff
            left={left}
            right={right}
            names={[from, to]}
            context={context}
          />
        )}
      />
    </section>
  );
}

/**
 * The texts that both compilations have.
 */
function commonArtifacts(
  { model }: IViewContext,
  variant: string,
  from: string,
  to: string
): readonly Artifact[] {
  const summary = model.report?.variants.find(({ name }) => name === variant);
  const artifactsOf = (id: string) =>
    summary?.compilations.find(compilation => compilation.id === id)
      ?.artifacts ?? [];
  const names = new Set(artifactsOf(to).map(artifact => artifact.name));
  return artifactsOf(from).filter(artifact => names.has(artifact.name));
}
