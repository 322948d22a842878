import type { ILinked, ISelection } from '../../interfaces/selection';
import type { ILinkData } from './linkData';

/**
 * What torch provides no mapping for, and why, as far as the data shows; empty
 * if nothing is missing.
 */
export function whatIsMissing(
  selection: ISelection,
  linked: ILinked,
  data: ILinkData
): string {
  const { key, kernel, node, source } = selection;
  if (key !== null) {
    return linked.kernels.size > 0 ? ofLaunches(linked, data) : '';
  }
  if (node) {
    return ofNode(selection, linked, data);
  }
  if (kernel !== null) {
    const isKnown = data.kernels.some(({ name }) => name === kernel);
    return isKnown ? ofLaunches(linked, data) : '';
  }
  if (source && linked.keys.size === 0) {
    return linked.nodes.size > 0
      ? 'No kernel was made of what this line does: it only changes shapes, or it was folded away.'
      : 'torch names no operation of this compilation that comes from this line.';
  }
  return source ? ofLaunches(linked, data) : '';
}

function ofNode(
  { node }: ISelection,
  linked: ILinked,
  data: ILinkData
): string {
  const known = data.graphs.get(node!.stage)?.node(node!.name);
  if (!known) {
    return '';
  }
  if (known.op === 'placeholder' || known.op === 'output') {
    return known.op === 'output'
      ? 'What is returned has no kernel of its own.'
      : 'An input has no kernel of its own.';
  }
  if (linked.keys.size === 0) {
    return 'No kernel was made of this node: it only changes a shape, it was folded away, or torch does not say what became of it.';
  }
  const hasDynamo = data.graphs.has('dynamo');
  if (hasDynamo && node!.stage !== 'dynamo' && known.origins.length === 0) {
    return 'torch does not say which node of Dynamo’s graph this one comes from.';
  }
  return ofLaunches(linked, data);
}

/**
 * What the launches are not mapped to: nodes, lines of the user's code,
 * launches in the other wrapper.
 */
function ofLaunches(linked: ILinked, { kernels }: ILinkData): string {
  const owners = kernels.filter(({ launches }) =>
    launches.some(({ key }) => linked.keys.has(key))
  );
  if (owners.length > 0 && owners.every(owner => owner.nodes.length === 0)) {
    return 'torch does not say which nodes this kernel is made of.';
  }
  if (owners.length > 0 && linked.sources.length === 0) {
    return 'torch does not say which line of your code this comes from.';
  }
  const wrappers = (keys: ReadonlySet<string> | null) =>
    new Set(
      kernels
        .flatMap(({ launches }) => launches)
        .filter(({ key }) => keys === null || keys.has(key))
        .map(({ artifact }) => artifact)
    );
  const launching = wrappers(null);
  const linkedTo = wrappers(linked.keys);
  if (linkedTo.size > 0 && linkedTo.size < launching.size) {
    return linkedTo.has('cpp')
      ? 'The Python wrapper has no launch that corresponds to it.'
      : 'The C++ wrapper has no launch that corresponds to it.';
  }
  return '';
}
