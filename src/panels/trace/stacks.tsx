import * as React from 'react';
import type { Stacks } from '../../protocol/types';
import { SourceLink } from '../common';
import type { IViewContext } from '../views';
import { CompilationLink } from './link';
import { formatCount } from '../../words/format';

/**
 * Which calls led to which compilations: a tree for all processes with the same
 * calls.
 */
export function StackTrees(props: {
  trees: readonly Stacks[];
  context: IViewContext;
}): JSX.Element {
  const { trees, context } = props;
  const { trans } = context;
  return (
    <section>
      <h3>{trans.__('What led to each compilation')}</h3>
      {trees.map(tree => (
        <Tree
          key={tree.processes[0]}
          tree={tree}
          isNamed={trees.length > 1 || tree.processes.length > 1}
          context={context}
        />
      ))}
    </section>
  );
}

function Tree(props: {
  tree: Stacks;
  isNamed: boolean;
  context: IViewContext;
}): JSX.Element {
  const { tree, isNamed, context } = props;
  const { trans } = context;
  const names = tree.processes.join(', ');
  const [process] = tree.processes;
  const links = (ids: readonly string[]) =>
    ids.map(id => (
      <React.Fragment key={id}>
        {' '}
        <CompilationLink process={process} id={id} context={context} />
      </React.Fragment>
    ));
  return (
    <>
      {isNamed && <h4>{names}</h4>}
      <ul
        className="jp-Compilescope-traceStacks"
        aria-label={trans.__('Calls that led to compilations of %1', names)}
      >
        {tree.lines.map(({ depth, where, compilations }, index) => (
          <li key={index} style={{ paddingInlineStart: `${depth}em` }}>
            <code>{where.function}</code>{' '}
            <SourceLink where={where} context={context} />
            {links(compilations)}
          </li>
        ))}
      </ul>
      {tree.unknown.length > 0 && (
        <p>
          {trans.__('torch logged no stack of')}
          {links(tree.unknown)}
        </p>
      )}
      {tree.left_out > 0 && (
        <p>
          {trans._n(
            '%2 more compilation is not in the tree',
            '%2 more compilations are not in the tree',
            tree.left_out,
            formatCount(tree.left_out)
          )}
        </p>
      )}
    </>
  );
}
