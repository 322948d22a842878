import type { Extension } from '@codemirror/state';
import { Widget } from '@lumino/widgets';
import * as React from 'react';
import type { ArtifactResult } from '../../../protocol/types';
import { lineCount } from '../../../code/comparison';
import { DiffBody } from '../../../code/diff';
import { Languages } from '../../../code/editor/languages';
import { RegionIndex } from '../../../code/regions/regions';
import { useWidth } from '../../common';
import type { IViewContext } from '../../views';
import { formatCount } from '../../../words/format';

/**
 * Below this width, in pixels, lines wrap.
 */
const NARROW = 700;

/**
 * Two texts as a diff.
 */
export function TextDiff(props: {
  left: ArtifactResult;
  right: ArtifactResult;

  /**
   * The titles of the two texts.
   */
  names: readonly [string, string];
  context: IViewContext;
}): JSX.Element {
  const { left, right, names, context } = props;
  const { trans, model } = context;
  const host = React.useRef<HTMLDivElement>(null);
  const width = useWidth(host);
  const [syntax, setSyntax] = React.useState<Extension | null>(null);
  const { language } = left.artifact;
  React.useEffect(() => {
    let isCurrent = true;
    const set = (extension: Extension) => isCurrent && setSyntax(extension);
    // The text is useful even without syntax highlighting.
    new Languages(context.languages).get(language).then(set, () => set([]));
    return () => {
      isCurrent = false;
    };
  }, [language]);
  const wrap = width > 0 && width < NARROW;
  const [changes, setChanges] = React.useState<number | null>(null);
  // Only while React has the host in the page: then the widget is detached.
  React.useLayoutEffect(() => {
    if (!syntax) {
      return;
    }
    const body = new DiffBody();
    Widget.attach(body, host.current!);
    const setup = (name: string) => ({
      label: trans.__('%1 of %2', left.artifact.label, name),
      language: syntax,
      embedded: [],
      wrap,
      folds: false,
      files: () => model.report?.files ?? {},
      events: {
        select: () => undefined,
        clear: () => undefined,
        moved: () => undefined,
        layoutChanged: () => undefined
      },
      trans
    });
    body.compare(textOf(left), textOf(right), new Map(), {
      left: setup(names[0]),
      right: setup(names[1])
    });
    setChanges(body.changes);
    return () => body.dispose();
  }, [left, right, syntax, wrap]);
  const isSame = left.text === right.text;
  return (
    <>
      <p className="jp-Compilescope-muted" role="status">
        {isSame
          ? trans.__('Both are identical.')
          : changes !== null &&
            trans._n('%2 change', '%2 changes', changes, formatCount(changes))}
      </p>
      <div ref={host} className="jp-Compilescope-diffHost" />
    </>
  );
}

function textOf(result: ArtifactResult) {
  const index = new RegionIndex(result.regions, lineCount(result.text));
  return { result, index };
}
