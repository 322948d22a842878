import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { GUARD_TYPES } from '../../protocol/types';
import type { Compilation, Guard } from '../../protocol/types';
import { Badge, CodeBlock, SourceLink } from '../common';
import { formatNanoseconds } from '../../words/format';
import { IconButton } from '../common/button';
import type { IViewContext } from '../views';
import { whySlow } from './columns';

/**
 * The details of one guard.
 */
export function Details(props: {
  guard: Guard;
  compilation: Compilation;
  context: IViewContext;
  view: object;
  onClose: () => void;
}): JSX.Element {
  const { guard, compilation, context, view } = props;
  const { trans } = context;
  const path = pathOf(guard, compilation);
  return (
    <section
      className="jp-Compilescope-guardDetails"
      aria-label={trans.__('Selected guard')}
    >
      <header>
        <h3>{guard.type || trans.__('Guard')}</h3>
        {guard.language === 'python' ? (
          <Badge kind="warning">{trans.__('checked in Python')}</Badge>
        ) : (
          <Badge>{trans.__('checked in C++')}</Badge>
        )}
        {guard.cost_ns !== null && (
          <span>{formatNanoseconds(guard.cost_ns)}</span>
        )}
        {guard.hits !== null && (
          <span>{trans.__('passed %1 times', guard.hits)}</span>
        )}
        {guard.fails !== null && (
          <span>{trans.__('failed %1 times', guard.fails)}</span>
        )}
        <IconButton
          icon={closeIcon}
          label={trans.__('Close')}
          onClick={props.onClose}
        />
      </header>
      <CodeBlock
        code={guard.expression}
        label={trans.__('The guard’s expression')}
        trans={trans}
      />
      <p>
        {guard.language === 'python'
          ? whySlow(guard, trans)
          : guard.why || GUARD_TYPES[guard.type]}
      </p>
      <dl>
        {guard.source && (
          <>
            <dt>{trans.__('What it guards')}</dt>
            <dd>
              <code>{guard.source}</code>
            </dd>
          </>
        )}
        <dt>{trans.__('The line it comes from')}</dt>
        <dd>
          {guard.origin ? (
            <SourceLink
              where={guard.origin}
              context={context}
              origin={view}
              isWithCode
            />
          ) : (
            trans.__('torch records no source line for it')
          )}
        </dd>
        {path.length > 0 && (
          <>
            <dt>{trans.__('How its value is fetched')}</dt>
            <dd>
              <code>{path.join(' → ')}</code>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

/**
 * The accessors, starting at the root.
 */
function pathOf(guard: Guard, { guard_tree }: Compilation): readonly string[] {
  const path: string[] = [];
  let place = guard.manager;
  // The tree of a broken file may contain a cycle.
  for (let turn = 0; place !== null && turn < guard_tree.length; turn++) {
    const manager = guard_tree[place] as (typeof guard_tree)[0] | undefined;
    if (manager?.accessor) {
      path.unshift(manager.accessor);
    }
    place = manager?.parent ?? null;
  }
  return path;
}
