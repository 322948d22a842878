import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type { ISubjectModel } from '../../interfaces/subject';
import { problemOf } from '../../protocol/client';
import type { CompilationSummary } from '../../protocol/types';
import { compilationTitle } from '../../words/compilations';
import { formatCount } from '../../words/format';
import type { IView, IViewContext } from '../views';
import { Elided } from './tables/elided';

/**
 * What such a view lists: the field of a compilation that counts it.
 */
export type Listed = NonNullable<IView['lists']>;

/**
 * What is read of one compilation.
 */
export interface IGraph {
  /**
   * The compilation's id.
   */
  readonly id: string;

  /**
   * Why it has nothing of what is listed; empty where it has.
   */
  readonly why: string;
}

/**
 * So many compilations are read at first; then twice as many each time, up to a limit.
 */
const FIRST = 4;
const MOST = 32;

/**
 * The compilations of a variant that have what a view lists.
 */
export function graphsOf(
  { report }: ISubjectModel,
  variant: string,
  listed: Listed
): readonly CompilationSummary[] {
  const summary = report?.variants.find(({ name }) => name === variant);
  return summary?.compilations.filter(graph => graph[listed] > 0) ?? [];
}

/**
 * The id of the only compilation that a view of several shows; empty for all.
 */
export function shownGraph(model: ISubjectModel): string {
  return model.hasAllGraphs ? '' : model.compilation;
}

/**
 * What changes when a compilation has to be read again. Of a report that grows with
 * each compilation, those that are there stay as they are.
 */
function stampOf(
  { report }: ISubjectModel,
  { kernels, guards, reduced }: CompilationSummary
): string {
  const { kind } = report!.subject;
  return kind === 'watch' || kind === 'trace'
    ? `${kernels} ${guards} ${reduced}`
    : String(report!.revision);
}

/**
 * What is shown of a variant's compilations.
 */
export interface IGraphs<T> {
  /**
   * The ids of those that are shown.
   */
  readonly ids: readonly string[];

  /**
   * What was read of these so far, in their order.
   */
  readonly read: readonly T[];

  /**
   * How many are still to be read.
   */
  readonly waiting: number;

  /**
   * The ids of those that could not be read.
   */
  readonly failed: ReadonlySet<string>;

  /**
   * Read these again.
   */
  readonly retry: () => void;

  /**
   * What all compilations are called, by id.
   */
  readonly titles: ReadonlyMap<string, IGraphTitle>;
}

/**
 * What a compilation is called.
 */
export interface IGraphTitle {
  /**
   * The frame's name: the function.
   */
  readonly name: string;

  /**
   * The id, the frame and its place.
   */
  readonly title: string;
}

/**
 * The compilations that a view shows, all or one: the first at once, the others as
 * they are read.
 *
 * @param options.first - What is read already.
 * @param options.graph - The id of the only one; empty for all.
 * @param options.fail - What is shown of one that cannot be read.
 */
export function useGraphs<T extends IGraph>(
  { model, trans }: IViewContext,
  options: {
    variant: string;
    listed: Listed;
    first: T;
    graph: string;
    read: (id: string) => Promise<T>;
    fail: (id: string, why: string) => T;
  }
): IGraphs<T> {
  const { variant, listed, first, graph } = options;
  const summary = model.report?.variants.find(({ name }) => name === variant);
  const compilations = summary?.compilations ?? [];
  const all = graphsOf(model, variant, listed).map(({ id }) => id);
  const ids = graph ? [graph] : all.length > 0 ? all : [first.id];
  const stamps = new Map(
    compilations
      .filter(({ id }) => ids.includes(id))
      .map(compilation => [compilation.id, stampOf(model, compilation)])
  );
  const { known, failed, retry } = useRead(
    first,
    stamps,
    options.read,
    options.fail
  );
  const read = React.useMemo(
    () => ids.flatMap(id => known.get(id) ?? []),
    [known, ids.join()]
  );
  const files = model.report?.files ?? {};
  const titles = new Map(
    compilations.map(compilation => [
      compilation.id,
      {
        name: compilation.name,
        title: compilationTitle(compilation, files, trans)
      }
    ])
  );
  const waiting = ids.length - read.length;
  return { ids, read, waiting, failed, retry, titles };
}

/**
 * @param stamps - The ids of those that are shown, each with its `stampOf`.
 */
function useRead<T extends IGraph>(
  first: T,
  stamps: ReadonlyMap<string, string>,
  read: (id: string) => Promise<T>,
  fail: (id: string, why: string) => T
): {
  known: ReadonlyMap<string, T>;
  failed: ReadonlySet<string>;
  retry: () => void;
} {
  const [attempt, setAttempt] = React.useState(0);
  const [others, setOthers] = React.useState<ReadonlyMap<string, IRead<T>>>(
    new Map()
  );
  const readOne = async (id: string): Promise<readonly [string, IRead<T>]> => {
    const stamp = stamps.get(id)!;
    try {
      return [id, { stamp, graph: await read(id), hasFailed: false }];
    } catch (error) {
      const graph = fail(id, problemOf(error).what);
      return [id, { stamp, graph, hasFailed: true }];
    }
  };
  React.useEffect(() => {
    let isOpen = true;
    const readAll = async () => {
      const waiting = [...stamps.keys()].filter(
        id => id !== first.id && !isRead(others.get(id), stamps.get(id)!)
      );
      for (let at = 0, size = FIRST; at < waiting.length;) {
        const part = waiting.slice(at, at + size);
        at += size;
        size = Math.min(2 * size, MOST);
        const graphs = await Promise.all(part.map(readOne));
        if (!isOpen) {
          return;
        }
        setOthers(known => new Map([...known, ...graphs]));
      }
    };
    void readAll();
    return () => {
      isOpen = false;
    };
  }, [first.id, attempt, JSON.stringify([...stamps])]);
  return React.useMemo(() => {
    const known = new Map([
      ...[...others].map(([id, { graph }]) => [id, graph] as const),
      [first.id, first] as const
    ]);
    const failed = new Set(
      [...others].flatMap(([id, { hasFailed }]) =>
        hasFailed && id !== first.id ? id : []
      )
    );
    const retry = () => {
      setOthers(new Map([...others].filter(([id]) => !failed.has(id))));
      setAttempt(count => count + 1);
    };
    return { known, failed, retry };
  }, [others, first]);
}

function isRead<T>(read: IRead<T> | undefined, stamp: string): boolean {
  return read !== undefined && read.stamp === stamp && !read.hasFailed;
}

/**
 * The compilation of a row, in a column of `GRAPH_WIDTH`.
 */
export function GraphCell(props: {
  id: string;
  graphs: IGraphs<unknown>['titles'];
}): JSX.Element {
  const { id, graphs } = props;
  const { name, title } = graphs.get(id) ?? { name: '', title: id };
  return (
    <span className="jp-Compilescope-graphCell" title={title}>
      <code>{id}</code>{' '}
      {name && <Elided text={name} tail={LINE_LENGTH} title={title} />}
    </span>
  );
}

/**
 * What always stays of a name such as `forward from line 12`.
 */
const LINE_LENGTH = 7;

/**
 * The width of the column of compilations: at least an id and a short name, in pixels.
 */
export const GRAPH_LEAST = 84;
export const GRAPH_WIDTH = `minmax(${GRAPH_LEAST}px, 172px)`;

/**
 * Why compilations have nothing of what is listed, each reason once, and a button that
 * reads again those that could not be read.
 *
 * @param props.label - Names the compilations and says why.
 */
export function Missing(props: {
  graphs: IGraphs<IGraph>;
  label: (ids: string, why: string) => string;
  className?: string;
  trans: TranslationBundle;
}): JSX.Element {
  const { graphs, label, className = '', trans } = props;
  const { read, failed, retry } = graphs;
  return (
    <>
      {whyMissing(read).map(([why, of]) => (
        <p key={why} className={`jp-Compilescope-hint ${className}`.trim()}>
          {label(of.join(', '), why)}{' '}
          {of.some(id => failed.has(id)) && (
            <button
              type="button"
              className="jp-Compilescope-link"
              onClick={retry}
            >
              {trans.__('Try again')}
            </button>
          )}
        </p>
      ))}
    </>
  );
}

function whyMissing(
  graphs: readonly IGraph[]
): readonly (readonly [string, readonly string[]])[] {
  const ids = new Map<string, string[]>();
  for (const { id, why } of graphs) {
    if (why) {
      ids.set(why, [...(ids.get(why) ?? []), id]);
    }
  }
  return [...ids];
}

/**
 * How many compilations are still to be read, before what is known so far.
 */
export function readingText(count: number, trans: TranslationBundle): string {
  return trans._n(
    'reading %2 more compilation:',
    'reading %2 more compilations:',
    count,
    formatCount(count)
  );
}

interface IRead<T> {
  readonly stamp: string;
  readonly graph: T;
  readonly hasFailed: boolean;
}
