import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { problemOf } from '../../protocol/client';
import type { Package, Problem, VariantReport } from '../../protocol/types';
import { Badge, CodeBlock, Empty } from '../common';
import { formatBytes, formatSeconds } from '../../words/format';
import { Part, StudyButton } from '../common/study';
import type { IViewContext } from '../views';
import { Constants } from './constants';
import { Entries } from './entries';
import { Files } from './files';
import { Metadata, Signature } from './signature';
import { ProblemCard } from '../common/states/problemCard';

/**
 * The contents of a variant's package, and the buttons that create it.
 */
export function PackageBody(props: {
  variant: VariantReport;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { variant, context, origin } = props;
  const { trans } = context;
  const contents = variant.package;
  return (
    <>
      <Controls variant={variant} context={context} />
      <div className="jp-Compilescope-parts">
        {contents ? (
          <HowBuilt
            variant={variant}
            contents={contents}
            context={context}
            origin={origin}
          />
        ) : (
          <Empty
            what={trans.__('Nothing was compiled ahead of time')}
            why={
              variant.absent.package ??
              trans.__(
                'torch.export takes the call as one graph, and AOTInductor compiles that into a package: a library that runs without Python.'
              )
            }
            remedy={
              context.model.isLive
                ? trans.__(
                    'Generating the sources takes less time than a first call; building takes about as long.'
                  )
                : trans.__(
                    'Call %1 in a notebook.',
                    'compilescope.study(report, "package")'
                  )
            }
          />
        )}
      </div>
    </>
  );
}

function Controls(props: {
  variant: VariantReport;
  context: IViewContext;
}): JSX.Element | null {
  const { variant, context } = props;
  const { model, trans } = context;
  if (!model.isLive) {
    return null;
  }
  return (
    <div
      className="jp-Compilescope-controls"
      role="toolbar"
      aria-label={trans.__('Compile ahead of time')}
    >
      <StudyButton
        study="package"
        label={trans.__('Generate the sources')}
        variants={[variant]}
        unbuilt={
          variant.requested.target === null
            ? trans.__('This variant has no code.')
            : trans.__(
                'Its device is not available: build the package there and open it with %1.',
                'compilescope.open_package'
              )
        }
        context={context}
      />
      <StudyButton
        study="aot"
        label={trans.__('Build and time')}
        variants={[variant]}
        unbuilt=""
        context={context}
      />
    </div>
  );
}

function HowBuilt(props: {
  variant: VariantReport;
  contents: Package;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { variant, contents, context, origin } = props;
  const { model, trans } = context;
  const shown = model.report?.variants.find(
    ({ name }) => name === variant.name
  );
  const place = shown?.compilations.find(compilation =>
    compilation.artifacts.some(({ name }) => name === 'aot')
  );
  return (
    <>
      {contents.problem && (
        <ProblemCard problem={contents.problem} trans={trans} />
      )}
      {contents.files.length > 0 && (
        <Summary
          contents={contents}
          onCode={
            place
              ? async () => {
                  const hasWrapper = place.artifacts.some(
                    ({ name }) => name === 'cpp'
                  );
                  const { regions } = await model.getArtifact(
                    variant.name,
                    place.id,
                    'aot'
                  );
                  model.select({
                    text: {
                      variant: variant.name,
                      compilation: place.id,
                      artifact: 'aot',
                      line:
                        regions.find(region => region.kind === 'entry')
                          ?.start ?? null,
                      ...(hasWrapper && { beside: 'cpp' })
                    },
                    origin
                  });
                  context.open('code');
                }
              : null
          }
          trans={trans}
        />
      )}
      {contents.entries.length > 0 && (
        <Part name="entries" title={trans.__('Ways to call it')}>
          <Entries entries={contents.entries} trans={trans} />
        </Part>
      )}
      {contents.inputs.length + contents.outputs.length > 0 && (
        <Part name="signature" title={trans.__('Inputs and outputs')}>
          <Signature contents={contents} trans={trans} />
        </Part>
      )}
      {contents.constants.length > 0 && (
        <Part name="constants" title={trans.__('Constants')}>
          <Constants constants={contents.constants} trans={trans} />
        </Part>
      )}
      {contents.files.length > 0 && (
        <Part name="files" title={trans.__('Files')}>
          <Files contents={contents} variant={variant.name} context={context} />
        </Part>
      )}
      {Object.keys(contents.metadata).length > 0 && (
        <Part name="metadata" title={trans.__('Metadata')}>
          <Metadata metadata={contents.metadata} trans={trans} />
        </Part>
      )}
      {contents.build.length > 0 && (
        <Part name="build" title={trans.__('How it is built')}>
          <CodeBlock
            code={contents.build.join('\n\n')}
            label={trans.__('Commands')}
            trans={trans}
          />
        </Part>
      )}
    </>
  );
}

/**
 * A summary of the package in a few lines.
 */
function Summary(props: {
  contents: Package;
  onCode: (() => Promise<void>) | null;
  trans: TranslationBundle;
}): JSX.Element {
  const { contents, onCode, trans } = props;
  const [problem, setProblem] = React.useState<Problem | null>(null);
  const parts = Object.entries(contents.parts).filter(([, count]) => count > 0);
  const paths = new Set(contents.files.map(({ path }) => path));
  const notes = Object.entries(contents.absent).filter(
    ([key]) => !paths.has(key)
  );
  return (
    <section
      className="jp-Compilescope-packageSummary"
      aria-label={trans.__('The package')}
    >
      <p>
        <strong>{contents.state}</strong>
        {contents.device && <Badge kind="info">{contents.device}</Badge>}
        {contents.accurate !== null && (
          <Badge kind={contents.accurate ? 'good' : 'error'}>
            {`${contents.accurate ? '✓' : '✗'} ${contents.results}`}
          </Badge>
        )}
        {contents.bytes !== null && <span>{formatBytes(contents.bytes)}</span>}
        {onCode && (
          <button
            type="button"
            className="jp-Compilescope-button"
            onClick={() => {
              setProblem(null);
              onCode().catch(error => setProblem(problemOf(error)));
            }}
          >
            {trans.__('Show its C++')}
          </button>
        )}
      </p>
      {problem && <ProblemCard problem={problem} trans={trans} />}
      {parts.length > 0 && (
        <p className="jp-Compilescope-muted">
          {contents.seconds !== null &&
            `${trans.__('Created in %1', formatSeconds(contents.seconds))}: `}
          {parts
            .map(([name, seconds]) => `${name} ${formatSeconds(seconds)}`)
            .join(', ')}
        </p>
      )}
      {notes.map(([key, why]) => (
        <p key={key} className="jp-Compilescope-hint">
          {why}
        </p>
      ))}
    </section>
  );
}
