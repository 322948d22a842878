import * as React from 'react';
import type { Crossing, VariantReport } from '../../protocol/types';
import { Badge, useLoaded, ViewFrame } from '../common';
import type { IViewContext } from '../views';
import { findEverywhere, type IFindings, type IFound } from './everywhere';
import { WrapperLines } from './lines';
import { Prose } from './prose';

/**
 * As many lines of a wrapper as are listed at once.
 */
const MOST_LINES = 12;

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
    () =>
      findEverywhere(
        variants,
        context,
        'crossings',
        ({ crossings }) => crossings
      ),
    key,
    trans.__('Loading calls into Python…')
  );
  return (
    <section aria-labelledby="jp-Compilescope-crossings">
      <h3 id="jp-Compilescope-crossings">
        {trans.__('Operators called through Python')}
      </h3>
      <p className="jp-Compilescope-hint">
        {trans.__(
          'The generated code calls these through Python; each call takes the GIL. Counted in the code, not measured.'
        )}
      </p>
      <ViewFrame
        state={state}
        trans={trans}
        show={({ found, omitted }: IFindings<Crossing>) => (
          <>
            {found.length === 0 ? (
              <p className="jp-Compilescope-requestedGood">
                {trans.__('None: no operator is called through Python.')}
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
                {trans.__('%1 further compilations are not shown.', omitted)}
              </p>
            )}
          </>
        )}
      />
    </section>
  );
}

function CrossingCard(
  props: IFound<Crossing> & { context: IViewContext }
): JSX.Element {
  const { variant, compilation, own: crossing, context } = props;
  const { trans } = context;
  const { operator, artifact, lines, direction, why, remedy } = crossing;
  const [isWhole, setWhole] = React.useState(false);
  const shown = isWhole ? lines : lines.slice(0, MOST_LINES);
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
            <WrapperLines
              variant={variant}
              compilation={compilation}
              of={crossing}
              lines={shown}
              context={context}
            />
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
