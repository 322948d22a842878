import type { Node } from '../../protocol/types';

/**
 * Matches the nodes of a stage with those of the earlier stage.
 */
export class Matcher {
  constructor(before: readonly Node[], after: readonly Node[]) {
    before.forEach(node => this._before.set(node.name, node));
    this._byName(after, true);
    this._byName(after, false);
    this._byPosition(before, after);
    this._byOrigin(before, after);
    this._byLine(before, after);
  }

  /**
   * Name now → names before.
   */
  readonly from = new Map<string, string[]>();

  /**
   * Name before → names now.
   */
  readonly to = new Map<string, string[]>();

  /**
   * Name before → name now, where they are one to one and differ.
   */
  get renames(): ReadonlyMap<string, string> {
    if (!this._renames) {
      this._renames = new Map();
      for (const [name, now] of this.to) {
        if (now.length === 1 && this.isOnlyMatch(name, now[0])) {
          this._renames.set(name, now[0]);
        }
      }
    }
    return this._renames;
  }

  /**
   * Whether origins decided about some nodes.
   */
  isByOrigin = false;

  /**
   * A node of the stage before.
   */
  old(name: string): Node {
    return this._before.get(name)!;
  }

  /**
   * Whether a node corresponds to exactly one earlier node, and that one to no
   * other.
   */
  isOnlyMatch(before: string, now: string): boolean {
    return (
      this.to.get(before)?.length === 1 && this.from.get(now)?.length === 1
    );
  }

  /**
   * The same name, and the same operator; or another operator at the same line.
   */
  private _byName(after: readonly Node[], isSame: boolean): void {
    for (const node of after) {
      const old = this._before.get(node.name);
      if (!old || this.from.has(node.name) || this.to.has(node.name)) {
        continue;
      }
      const isSameOperator = old.op === node.op && old.target === node.target;
      if (isSame ? isSameOperator : isSamePlace(old, node)) {
        this._pair([old], [node]);
      }
    }
  }

  /**
   * A graph's inputs and its output are renamed, and come in the same order.
   */
  private _byPosition(before: readonly Node[], after: readonly Node[]): void {
    const pick = (nodes: readonly Node[], op: string) =>
      nodes.filter(node => node.op === op && !node.name.includes('.'));
    for (const op of ['placeholder', 'output']) {
      const old = pick(before, op);
      const now = pick(after, op);
      const isAlike =
        old.length === now.length &&
        old.every((node, i) => isSameTensor(node, now[i]));
      if (isAlike) {
        old.forEach((node, i) => {
          if (!this.to.has(node.name) && !this.from.has(now[i].name)) {
            this._pair([node], [now[i]]);
          }
        });
      }
    }
  }

  /**
   * What has the same origins in Dynamo's graph took over from each other.
   */
  private _byOrigin(before: readonly Node[], after: readonly Node[]): void {
    const isFirst = before.every(node => node.origins.length === 0);
    const originsOf = (node: Node) => (isFirst ? [node.name] : node.origins);
    const old = new Map<string, Node[]>();
    for (const node of before) {
      if (!this.to.has(node.name) && node.op !== 'output') {
        for (const origin of originsOf(node)) {
          old.set(origin, [...(old.get(origin) ?? []), node]);
        }
      }
    }
    const now = new Map<string, Node[]>();
    for (const node of after) {
      if (!this.from.has(node.name) && node.op !== 'output') {
        for (const origin of node.origins) {
          now.set(origin, [...(now.get(origin) ?? []), node]);
        }
      }
    }
    for (const [origin, nodes] of now) {
      const sources = old.get(origin);
      if (sources) {
        this.isByOrigin = true;
        this._share(sources, nodes);
      }
    }
  }

  /**
   * Where torch noted no origins: the same operator at the same line.
   */
  private _byLine(before: readonly Node[], after: readonly Node[]): void {
    const free = new Map<string, Node[]>();
    for (const node of before) {
      const key = lineOf(node);
      if (key && !this.to.has(node.name)) {
        free.set(key, [...(free.get(key) ?? []), node]);
      }
    }
    for (const node of after) {
      const key = lineOf(node);
      const old = key && !this.from.has(node.name) && free.get(key)?.shift();
      if (old) {
        this._pair([old], [node]);
      }
    }
  }

  /**
   * Of two sets of nodes that do the same work, pair the equal ones, then the rest as a
   * whole.
   */
  private _share(old: readonly Node[], now: readonly Node[]): void {
    const left = [...old];
    const rest: Node[] = [];
    for (const node of now) {
      const at = left.findIndex(
        candidate =>
          candidate.target === node.target && isSameTensor(candidate, node)
      );
      if (at >= 0 && !this.from.has(node.name)) {
        this._pair(left.splice(at, 1), [node]);
      } else if (!this.from.has(node.name)) {
        rest.push(node);
      }
    }
    if (rest.length > 0) {
      this._pair(left.length > 0 ? left : old, rest);
    }
  }

  private _pair(old: readonly Node[], now: readonly Node[]): void {
    for (const a of old) {
      for (const b of now) {
        this.to.set(a.name, [...(this.to.get(a.name) ?? []), b.name]);
        this.from.set(b.name, [...(this.from.get(b.name) ?? []), a.name]);
      }
    }
  }

  private _before = new Map<string, Node>();
  private _renames: Map<string, string> | null = null;
}

function isSamePlace(a: Node, b: Node): boolean {
  const isOrigin =
    a.origins.length > 0 && b.origins.length > 0
      ? a.origins.some(origin => b.origins.includes(origin))
      : lastLine(a) === lastLine(b);
  return a.op === b.op && isOrigin;
}

function isSameTensor(a: Node, b: Node): boolean {
  return (
    String(a.shape) === String(b.shape) && String(a.dtype) === String(b.dtype)
  );
}

function lineOf(node: Node): string {
  const line = lastLine(node);
  return line && `${line} ${node.target} ${node.shape}`;
}

function lastLine({ sources }: Node): string {
  const last = sources[sources.length - 1];
  return last ? `${last.file}:${last.line}` : '';
}
