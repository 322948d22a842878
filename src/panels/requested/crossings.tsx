import * as React from 'react';
import type { Crossing, VariantReport } from '../../protocol/types';
import { Badge, useLoaded, ViewFrame } from '../common';
import type { IViewContext } from '../views';
import { Prose } from './prose';

/**
 * As many lines of a wrapper as are listed at once.
 */
const MOST_LINES = 12;

/**
 * At most so many compilations of a variant are asked for their crossings.
 */
const MOST_COMPILATIONS = 50;

interface IFound {
  readonly variant: string;
  readonly compilation: string;
  readonly crossing: Crossing;
}

interface IFindings {
  readonly found: readonly IFound[];
  readonly omitted: number;
}

/**
 * The operators that generated code calls through Python's dispatcher.
 */
export function Crossings(props: {
  variants: readonly VariantReport[];
  context: IViewContext;
}): JSX.Element {
  const { variants, context } = props;
  const { model, trans } = context;
  const key = [model.subject, model.report?.revision].join(' ');
  const state = useLoaded(
    () => find(variants, context),
    key,
    trans.__('Looking for crossings…')
  );
  return (
    <section aria-labelledby="jp-Compilescope-crossings">
      <h3 id="jp-Compilescope-crossings">
        {trans.__('Operators that go through Python')}
      </h3>
      <p className="jp-Compilescope-hint">
        {trans.__(
          'The generated code calls these through Python’s dispatcher: each call takes the GIL. Counted in the generated code, not measured.'
        )}
      </p>
      <ViewFrame
        state={state}
        trans={trans}
        show={({ found, omitted }: IFindings) => (
          <>
            {found.length === 0 ? (
              <p className="jp-Compilescope-requestedGood">
                {trans.__('None: no operator goes through Python.')}
              </p>
            ) : (
              <ul className="jp-Compilescope-crossings">
                {found.map((each, index) => (
                  <li key={index}>
                    <CrossingCard {...each} context={context} />
                  </li>
                ))}
              </ul>
            )}
            {omitted > 0 && (
              <p className="jp-Compilescope-hint">
                {trans.__(
                  '%1 further compilations were not looked at.',
                  omitted
                )}
              </p>
            )}
          </>
        )}
      />
    </section>
  );
}

function CrossingCard(props: IFound & { context: IViewContext }): JSX.Element {
  const { variant, compilation, crossing, context } = props;
  const { model, trans } = context;
  const { operator, artifact, lines, direction, why, remedy } = crossing;
  const [isWhole, setWhole] = React.useState(false);
  const shown = isWhole ? lines : lines.slice(0, MOST_LINES);
  const open = (line: number) => {
    model.select({
      text: {
        variant,
        compilation,
        artifact: direction === 'backward' ? `backward.${artifact}` : artifact,
        line
      }
    });
    context.open('code');
  };
  return (
    <article className="jp-Compilescope-crossing">
      <header>
        <code>{operator}</code>
        <Badge>{variant}</Badge>
        <Badge>{compilation}</Badge>
        {direction === 'backward' && <Badge>{trans.__('backward')}</Badge>}
        {lines.length > 0 && (
          <span className="jp-Compilescope-crossingLines">
            <span className="jp-Compilescope-muted">
              {artifact === 'cpp'
                ? trans.__('C++ wrapper, line')
                : trans.__('Python wrapper, line')}
            </span>
            {shown.map(line => (
              <button
                key={line}
                type="button"
                className="jp-Compilescope-link jp-mod-code"
                title={trans.__('Show line %1 in the code', line)}
                onClick={() => open(line)}
              >
                {line}
              </button>
            ))}
            {shown.length < lines.length && (
              <button
                type="button"
                className="jp-Compilescope-link"
                onClick={() => setWhole(true)}
              >
                {trans.__('%1 more', lines.length - shown.length)}
              </button>
            )}
          </span>
        )}
      </header>
      {why && <Prose text={why} trans={trans} />}
      {remedy && (
        <div className="jp-Compilescope-remedy">
          <Prose text={remedy} trans={trans} isRemedy />
        </div>
      )}
    </article>
  );
}

async function find(
  variants: readonly VariantReport[],
  { model }: IViewContext
): Promise<IFindings> {
  let omitted = 0;
  const all = variants.flatMap(({ name, compilations }) => {
    const wanted = compilations.slice(0, MOST_COMPILATIONS);
    omitted += compilations.length - wanted.length;
    return wanted.map(({ id }) => ({ variant: name, id }));
  });
  const found = await Promise.all(
    all.map(async ({ variant, id }) => {
      const one = await model.getCompilation(variant, id, ['crossings']);
      return one.crossings.map(crossing => ({
        variant,
        compilation: id,
        crossing
      }));
    })
  );
  return { found: found.flat(), omitted };
}
