import type { TranslationBundle } from '@jupyterlab/translation';
import { GHOST } from '../../../graph/diff/ghosts';
import type { IPrepared } from '../../../graph/prepare';
import { fusionTime } from '../../../graph/kernels';
import { roleOf } from '../../../graph/roles';
import type { SourceLine } from '../../../protocol/types';
import { formatMicroseconds } from '../../../words/format';
import { countNodes, stageTitle } from '../words';

/**
 * A fact about a node.
 */
export interface IFact {
  readonly label: string;
  readonly value: string;

  /**
   * The fact's line of the user's code.
   */
  readonly source?: SourceLine;

  /**
   * The names of nodes that it links to.
   */
  readonly nodes?: readonly string[];
}

/**
 * The facts about a node, the most informative first. Those that torch does not
 * provide are omitted.
 */
export function nodeFacts(
  prepared: IPrepared,
  index: number,
  trans: TranslationBundle
): IFact[] {
  const node = prepared.graph.nodes[index];
  const facts: IFact[] = [];
  const add = (label: string, value: string | null | undefined) => {
    if (value) {
      facts.push({ label, value });
    }
  };
  const isGhost = node.name.startsWith(GHOST);
  if (isGhost) {
    add(
      trans.__('Removed'),
      trans.__(
        'in “%1”; no node here comes from it',
        stageTitle(prepared.diff?.before ?? '', trans)
      )
    );
  }
  const isOutside = node.op === 'placeholder' || node.op === 'output';
  add(trans.__('Operator'), isOutside ? node.op : node.target);
  const role = roleOf(node, prepared.stage);
  if (role && role !== 'unknown') {
    const roles = {
      input: trans.__('an input of the graph'),
      parameter: trans.__('a parameter, buffer or constant'),
      saved: trans.__('saved by the forward for the backward')
    };
    add(trans.__('Role'), roles[role]);
  }
  add(trans.__('Arguments'), node.args);
  add(trans.__('Shape'), node.shape && `[${node.shape.join(', ')}]`);
  add(trans.__('Stride'), node.stride && `[${node.stride.join(', ')}]`);
  add(trans.__('Dtype'), node.dtype);
  add(trans.__('Device'), node.device);
  const module = [node.module, node.module_type].filter(Boolean).join(' · ');
  add(trans.__('Module'), module);
  for (const fusion of prepared.fusions.filter(f => f.nodes.includes(index))) {
    const { kernel, nodes, isGuess } = fusion;
    if (facts.some(({ label }) => label === trans.__('Kernel'))) {
      add(
        trans.__('Also in'),
        otherKernels(prepared, index).slice(0, 8).join(', ')
      );
      break;
    }
    add(
      trans.__('Kernel'),
      trans.__('%1, of %2', kernel.name, countNodes(nodes.length, trans)) +
        (isGuess ? trans.__(' (grouped by connectivity)') : '')
    );
    const time = fusionTime(fusion);
    add(
      trans.__('Measured'),
      time === null
        ? null
        : trans.__('%1 for the whole launch', formatMicroseconds(time))
    );
  }
  const source = node.sources[node.sources.length - 1];
  if (source) {
    facts.push({
      label: trans.__('Line'),
      value: `${source.file}:${source.line}`,
      source
    });
  }
  const names = (list: readonly string[]) =>
    list.filter(n => !n.startsWith(GHOST));
  const link = (label: string, list: readonly string[]) => {
    if (list.length > 0) {
      facts.push({ label, value: list.join(', '), nodes: list });
    }
  };
  link(trans.__('Inputs'), names(node.inputs));
  link(trans.__('Users (%1)', names(node.users).length), names(node.users));
  const change = prepared.diff?.changes.get(node.name);
  if (change && change.kind !== 'same' && prepared.diff) {
    const before = stageTitle(prepared.diff.before, trans);
    const from = change.from.slice(0, 6).join(', ');
    add(
      trans.__('Change'),
      {
        added: trans.__('added since “%1”', before),
        renamed: trans.__('was %1 in “%2”', from, before),
        rewritten:
          change.fields.length > 0
            ? trans.__(
                'rewritten since “%1”: %2',
                before,
                change.fields.join(', ')
              )
            : trans.__('rewritten from %1 in “%2”', from, before)
      }[change.kind]
    );
  }
  if (node.origins.length > 0 && prepared.stage !== 'dynamo') {
    add(trans.__('From Dynamo’s'), node.origins.join(', '));
  }
  return facts;
}

/**
 * The names of the other kernels that compute a node's value themselves.
 */
function otherKernels({ fusions }: IPrepared, index: number): string[] {
  const ofNode = fusions.filter(fusion => fusion.nodes.includes(index));
  return [...new Set(ofNode.slice(1).map(({ kernel }) => kernel.name))];
}
