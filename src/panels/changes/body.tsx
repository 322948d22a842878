import * as React from 'react';
import type {
  Changes,
  VariantReport,
  VariantSummary
} from '../../protocol/types';
import type { IViewContext } from '../views';
import { KernelTable } from './kernels';
import { OtherChanges } from './others';

/**
 * All variants in one sentence each; for the shown one, its kernels next to
 * those of the baseline, and all other differences.
 */
export function ChangesBody(props: {
  variant: VariantReport;
  variants: readonly VariantSummary[];
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { variant, variants, context, origin } = props;
  const { model, trans } = context;
  const { changes } = variant;
  return (
    <div className="jp-Compilescope-body">
      <section>
        <h3>{trans.__('Changes from the closest variant')}</h3>
        <ul className="jp-Compilescope-changesList">
          {variants.map(({ name, changed, requested, target }) => (
            <li
              key={name}
              className={name === variant.name ? 'jp-mod-shown' : undefined}
            >
              <button
                type="button"
                className="jp-Compilescope-link"
                aria-pressed={name === variant.name}
                disabled={!changed && name !== variant.name}
                onClick={() => {
                  model.variant = name;
                }}
              >
                {name}
              </button>
              <span>
                {changed?.summary ??
                  (requested.backend === null
                    ? trans.__('not compiled')
                    : isOnlyOne(variants, name)
                      ? trans.__(
                          'not compared: the only variant for %1',
                          target?.title ?? requested.target
                        )
                      : trans.__('baseline'))}
              </span>
            </li>
          ))}
        </ul>
      </section>
      {changes ? (
        <Details
          variant={variant.name}
          changes={changes}
          context={context}
          origin={origin}
        />
      ) : (
        <p className="jp-Compilescope-hint">
          {isOnlyOne(variants, variant.name)
            ? trans.__(
                '%1 is the only variant for its target: code for different devices is not compared.',
                variant.name
              )
            : variants.some(({ changed }) => changed)
              ? trans.__(
                  '%1 is the baseline. Select another variant to see its changes.',
                  variant.name
                )
              : trans.__(
                  '%1 is the only variant: there is none to compare it with.',
                  variant.name
                )}
        </p>
      )}
    </div>
  );
}

/**
 * Whether a variant's target differs from the targets of all other variants.
 */
function isOnlyOne(variants: readonly VariantSummary[], name: string): boolean {
  const target = variants.find(variant => variant.name === name)?.requested
    .target;
  return (
    !!target &&
    variants.filter(({ requested }) => requested.target === target).length === 1
  );
}

function Details(props: {
  variant: string;
  changes: Changes;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { variant, changes, context, origin } = props;
  const { trans } = context;
  return (
    <>
      <section>
        <h3>{trans.__('Kernels of %1 and %2', variant, changes.baseline)}</h3>
        {changes.backend_words ? (
          <p className="jp-Compilescope-changesOnly">{changes.backend_words}</p>
        ) : changes.kernels.length > 0 ? (
          <KernelTable
            variant={variant}
            changes={changes}
            context={context}
            origin={origin}
          />
        ) : (
          <p className="jp-Compilescope-hint">
            {trans.__('No kernels to compare.')}
          </p>
        )}
      </section>
      <section>
        <h3>{trans.__('Other differences')}</h3>
        <OtherChanges variant={variant} changes={changes} trans={trans} />
      </section>
    </>
  );
}
