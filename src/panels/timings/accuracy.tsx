import * as React from 'react';
import type {
  FirstWrongKernel,
  OutputError,
  VariantReport
} from '../../protocol/types';
import { formatDifference } from '../../words/format';
import type { IViewContext } from '../views';
import { Figures } from '../common/tables/figures';
import { useShowAll } from '../common';

/**
 * The maximum number of outputs that are listed.
 */
const MAX_OUTPUTS = 20;

/**
 * One output of a variant.
 */
interface IOutput {
  readonly name: string;
  readonly error: OutputError;
}

/**
 * The accuracy of the results: each output and gradient against eager, and both
 * against a reference in higher precision.
 */
export function AccuracyPart(props: {
  variants: readonly VariantReport[];
  context: IViewContext;

  /**
   * The view, so that it can recognize its own selections.
   */
  origin: object;
}): JSX.Element {
  const { variants, context, origin } = props;
  const { trans } = context;
  const outputs = variants
    .flatMap(({ name, accuracy }): IOutput[] =>
      accuracy.map(error => ({ name, error }))
    )
    .sort((a, b) => Number(a.error.ok) - Number(b.error.ok));
  const [shown, showAll] = useShowAll(outputs, MAX_OUTPUTS, trans);
  if (outputs.length === 0) {
    return (
      <p className="jp-Compilescope-hint">
        {variants.find(variant => variant.absent.accuracy)?.absent.accuracy ??
          trans.__(
            'Outputs and gradients are compared with eager when a variant is built.'
          )}
      </p>
    );
  }
  const reference = outputs.find(output => output.error.reference)?.error
    .reference;
  return (
    <>
      {variants.map(
        ({ name, first_wrong_kernel: wrongKernel }) =>
          wrongKernel && (
            <WrongKernelLine
              key={name}
              name={name}
              wrongKernel={wrongKernel}
              context={context}
              origin={origin}
            />
          )
      )}
      <Figures
        label={trans.__('Errors as a table')}
        caption={trans.__('Largest error of each output')}
        heads={[
          trans.__('Variant'),
          trans.__('output'),
          trans.__('dtype'),
          trans.__('agrees'),
          {
            label: trans.__('error against eager'),
            title: trans.__('The largest difference from eager'),
            isNumber: true
          },
          { label: trans.__('tolerance'), isNumber: true },
          reference !== undefined && {
            label: trans.__('from %1', reference),
            title: trans.__('The largest difference from %1', reference),
            isNumber: true
          },
          reference !== undefined && {
            label: trans.__('eager’s error'),
            isNumber: true
          }
        ]}
      >
        {shown.map(({ name, error }, index) => (
          <tr key={index}>
            <th scope="row">{name}</th>
            <td>
              <code>{error.path}</code>
            </td>
            <td>{error.dtype}</td>
            <td className={error.ok ? 'jp-mod-up' : 'jp-mod-down'}>
              {error.ok ? trans.__('✓ yes') : trans.__('✗ no')}
            </td>
            <td
              className="jp-mod-number"
              title={[
                trans.__('relative: %1', formatDifference(error.max_rel)),
                ...(error.other_rounding_abs === null
                  ? []
                  : [
                      trans.__(
                        'rounding alone changes eager’s by up to %1',
                        formatDifference(error.other_rounding_abs)
                      )
                    ])
              ].join('; ')}
            >
              {differsInKind(error) ? '–' : formatDifference(error.max_abs)}
            </td>
            <td className="jp-mod-number jp-mod-wrap">
              {trans.__(
                '%1 + %2 of it',
                formatDifference(error.tolerance_abs),
                formatDifference(error.tolerance_rel)
              )}
            </td>
            {reference && (
              <>
                <td className="jp-mod-number">
                  {formatKnown(error.reference_abs)}
                </td>
                <td className="jp-mod-number">
                  {formatKnown(error.eager_reference_abs)}
                </td>
              </>
            )}
          </tr>
        ))}
      </Figures>
      {showAll}
    </>
  );
}

/** Whether the outputs differ in more than their values, as in their shape: the path says how. */
function differsInKind(error: OutputError): boolean {
  return !error.ok && error.max_abs === 0;
}

/**
 * The first kernel with a wrong result. A click selects it, and shows it in the
 * code.
 */
function WrongKernelLine(props: {
  name: string;
  wrongKernel: FirstWrongKernel;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { name, wrongKernel, context, origin } = props;
  const { model, trans } = context;
  const { compilation, kernel, key, buffer, node, error, how } = wrongKernel;
  const show = () => {
    model.variant = name;
    model.compilation = compilation;
    model.select({
      key: key || null,
      kernel,
      node: node ? { stage: 'post_grad', name: node } : null,
      origin
    });
    context.open('code');
  };
  return (
    <p className="jp-Compilescope-firstWrongKernel">
      <strong>{name}</strong> {trans.__('first deviates in the kernel')}{' '}
      <button
        type="button"
        className="jp-Compilescope-link jp-mod-code"
        title={trans.__('Select it, and show it in the code')}
        onClick={show}
      >
        {kernel}
      </button>{' '}
      {[
        compilation,
        buffer,
        node && trans.__('node %1', node),
        error && trans.__('off by %1', formatDifference(error.max_abs)),
        how
      ]
        .filter(Boolean)
        .join(' · ')}
    </p>
  );
}

function formatKnown(value: number | null): string {
  return value === null ? '–' : formatDifference(value);
}
