// What runs in the browser: the view's own parts, and elkjs, on one graph.
import { colorNodes } from '../../lib/graph/color/coloring.js';
import { initiallyOpenGroups } from '../../lib/graph/initiallyOpen.js';
import { Scene } from '../../lib/graph/paint/scene.js';
import { readTheme } from '../../lib/graph/paint/theme.js';
import { prepareStage } from '../../lib/graph/prepare.js';
import { groupShares } from '../../lib/graph/shares.js';
import { layoutInput, nodeTexts } from '../../lib/graph/sizes.js';
import { LayoutClient } from '../../lib/graph/worker/client.js';
import { fromFile } from '../../lib/graph/worker/factory.js';
import { GraphCanvas } from '../../lib/panels/graph/drawing/canvas.js';

const sizeText = size => `${size} nodes`;
const frame = () => new Promise(resolve => requestAnimationFrame(resolve));

/**
 * Open a graph as the view does.
 *
 * @returns Milliseconds: to group, to lay out collapsed, until it is on the screen; and all that the
 * next steps need.
 */
async function open(stage, nodes) {
  const host = document.getElementById('host');
  host.replaceChildren();
  const canvas = new GraphCanvas(host, {
    onSelect() {},
    onToggle() {},
    onHover() {},
    onScale() {}
  });
  const start = performance.now();
  const graph = { stage, text: '', nodes, absent: {} };
  const data = { graph, before: null, other: null, kernels: [], regions: [] };
  const prepared = prepareStage(data, null, false);
  const texts = nodeTexts(prepared.graph);
  const input = layoutInput(prepared.graph, prepared.grouping, texts, sizeText);
  const grouped = performance.now();
  let hasWorker = true;
  const client = new LayoutClient(input, fromFile, () => (hasWorker = false));
  const coloring = colorNodes('kind', prepared);
  const shares = groupShares(prepared.grouping, coloring);
  const { groups } = prepared.grouping;
  const show = async ids => {
    const flags = Uint8Array.from(groups, (group, i) => (i === 0 || ids.has(group.id) ? 1 : 0));
    const result = await client.run(flags);
    const scene = new Scene(prepared.graph, prepared.grouping, texts, result.layout);
    const theme = readTheme(host);
    canvas.setPicture({ scene, coloring, fusions: [], theme, sizeText, shares });
    return result;
  };
  const { layout, milliseconds } = await show(initiallyOpenGroups(prepared.grouping));
  const laidOut = performance.now();
  await frame();
  await frame();
  return {
    canvas,
    client,
    show,
    prepared,
    input,
    layout,
    hasWorker,
    times: {
      group: grouped - start,
      layout: milliseconds,
      open: performance.now() - start,
      wait: laidOut - grouped
    }
  };
}

/**
 * Pan for some time; the time between frames, and the time spent in each.
 */
async function pan(canvas, milliseconds) {
  const between = [];
  canvas.frames.length = 0;
  const start = performance.now();
  let last = await frame();
  for (let i = 0; performance.now() - start < milliseconds; i++) {
    // There and back, with a step that leaves tiles and comes to new ones.
    const turn = Math.floor(i / 90) % 2 === 0 ? -1 : 1;
    canvas.pan(3 * turn, 12 * turn);
    const now = await frame();
    between.push(now - last);
    last = now;
  }
  return { between, own: [...canvas.frames] };
}

/**
 * The same picture laid out by elkjs: the same boxes and edges. `nested`: with groups as elk's
 * hierarchy.
 */
async function elk({ prepared, input, layout }, limit) {
  const { default: ELK } = await import('elkjs/lib/elk-api.js');
  const count = prepared.graph.nodes.length;
  const children = [];
  const isBox = new Set();
  layout.items.forEach((item, i) => {
    const isOpen =
      item >= count &&
      layout.items.some(
        inner =>
          (inner < count
            ? prepared.grouping.groupOf[inner]
            : prepared.grouping.groups[inner - count].parent) ===
          item - count
      );
    if (!isOpen) {
      isBox.add(item);
      const [width, height] = [layout.boxes[4 * i + 2], layout.boxes[4 * i + 3]];
      children.push({ id: `n${item}`, width, height });
    }
  });
  const seen = node => {
    let item = node;
    let group = prepared.grouping.groupOf[node];
    while (!isBox.has(item) && group > 0) {
      item = count + group;
      group = prepared.grouping.groups[group].parent;
    }
    return item;
  };
  const edges = new Map();
  for (let i = 0; i < input.edges.length; i += 2) {
    const [a, b] = [seen(input.edges[i]), seen(input.edges[i + 1])];
    if (a !== b && isBox.has(a) && isBox.has(b)) {
      edges.set(`${a} ${b}`, { id: `e${a} ${b}`, sources: [`n${a}`], targets: [`n${b}`] });
    }
  }
  const worker = new ELK({ workerUrl: '/elk-worker.min.js' });
  // Its start is not what is compared: ours is not in `layout` either.
  await worker.layout({ id: 'warm', children: [{ id: 'a', width: 9, height: 9 }] });
  const start = performance.now();
  const done = worker.layout(
    { id: 'root', children, edges: [...edges.values()] },
    { layoutOptions: { 'elk.algorithm': 'layered', 'elk.direction': 'DOWN' } }
  );
  const late = new Promise(resolve => setTimeout(() => resolve('late'), limit));
  const result = await Promise.race([done.catch(error => error), late]);
  const time = performance.now() - start;
  worker.terminateWorker();
  return {
    boxes: children.length,
    edges: edges.size,
    time,
    isLate: result === 'late',
    error: result instanceof Error ? result.message : ''
  };
}

window.bench = { open, pan, elk };
