import * as React from 'react';
import type { Package } from '../../protocol/types';
import { CodeBlock, useShowAll, useLoaded, ViewFrame } from '../common';
import { formatBytes } from '../../words/format';
import { TABLES } from '../../words/tables';
import type { IViewContext } from '../views';
import { DeclaredCells, declaredHeads } from '../common/tables/declared';
import { Figures } from '../common/tables/figures';

/** The maximum number of files that are listed. */
const FILES = 40;

/**
 * The maximum length of a text shown here: long ones are code, which has its
 * own view.
 */
const CHARACTERS = 20000;

/**
 * The files of a package; the text of the selected file is below them.
 */
export function Files(props: {
  contents: Package;
  variant: string;
  context: IViewContext;
}): JSX.Element {
  const { contents, variant, context } = props;
  const { trans } = context;
  const kinds = TABLES.files(trans).kind.words;
  const [opened, setOpened] = React.useState<string | null>(null);
  const [shown, showAll] = useShowAll(contents.files, FILES, trans);
  return (
    <>
      <Figures
        label={trans.__('Files as a table')}
        name="files"
        caption={trans.__('The files in the package')}
        heads={declaredHeads('files', trans)}
      >
        {shown.map(file => (
          <tr key={file.path}>
            <DeclaredCells
              table="files"
              trans={trans}
              cells={{
                file: (
                  <th scope="row" title={file.path}>
                    {file.text === null ? (
                      <code title={contents.absent[file.path]}>
                        {shorten(file.path)}
                      </code>
                    ) : (
                      <button
                        type="button"
                        className="jp-Compilescope-link jp-mod-code"
                        aria-expanded={opened === file.path}
                        onClick={() =>
                          setOpened(opened === file.path ? null : file.path)
                        }
                      >
                        {shorten(file.path)}
                      </button>
                    )}
                  </th>
                ),
                kind: <td>{kinds[file.kind]}</td>,
                size: (
                  <td className="jp-mod-number">{formatBytes(file.bytes)}</td>
                )
              }}
            />
          </tr>
        ))}
      </Figures>
      {showAll}
      {opened !== null && (
        <FileText path={opened} variant={variant} context={context} />
      )}
    </>
  );
}

function FileText(props: {
  path: string;
  variant: string;
  context: IViewContext;
}): JSX.Element {
  const { path, variant, context } = props;
  const { model, trans } = context;
  const state = useLoaded(
    () => model.getArtifact(variant, model.compilation, `package:${path}`),
    `${variant} ${path} ${model.report?.revision}`,
    trans.__('Loading…')
  );
  return (
    <section aria-label={path}>
      <ViewFrame
        state={state}
        trans={trans}
        show={({ text }) => (
          <>
            <CodeBlock
              code={text.slice(0, CHARACTERS)}
              label={path}
              trans={trans}
            />
            {text.length > CHARACTERS && (
              <p className="jp-Compilescope-hint">
                {trans.__(
                  'The first %1 of %2 characters.',
                  CHARACTERS,
                  text.length
                )}
              </p>
            )}
          </>
        )}
      />
    </section>
  );
}

/**
 * A path without its folders. A long name, which torch derives from a hash, is
 * shortened.
 */
export function shorten(path: string): string {
  const name = path.split('/').pop()!;
  return name.replace(/^(\w{8})\w{20,}/, '$1…');
}
