import * as React from 'react';
import { wrapperName } from '../../model/wrappers';
import type { Collective } from '../../protocol/types';
import { AbsentValue, SourceLink } from '../common';
import { formatBytes } from '../../words/format';
import type { IViewContext } from '../views';
import { TableHead } from '../common/tables/figures';

/**
 * The collectives that one variant calls on this rank, in order.
 */
export function CollectiveTable(props: {
  variant: string;
  collectives: readonly Collective[];
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { variant, collectives, context, origin } = props;
  const { trans } = context;
  return (
    <div className="jp-Compilescope-collectives">
      <table aria-label={trans.__('Collectives of %1', variant)}>
        <TableHead
          heads={[
            trans.__('Collective'),
            trans.__('Compilation'),
            trans.__('Result'),
            trans.__('Called'),
            trans.__('Waited for'),
            { label: trans.__('Kernels meanwhile'), isNumber: true },
            trans.__('Source')
          ]}
        />
        <tbody>
          {collectives.map((collective, index) => (
            <tr key={index}>
              <th scope="row">
                <code title={collective.operator}>
                  {collective.name || collective.operator}
                </code>
                {collective.reduction && ` ${collective.reduction}`}
              </th>
              <td>
                {collective.outside
                  ? trans.__('torch.distributed, %1', collective.direction)
                  : `${collective.compilation} ${collective.direction}`}
              </td>
              <td>
                {collective.dtype || collective.shape.length > 0 ? (
                  <>
                    <code>{`${collective.dtype}[${collective.shape.join(', ')}]`}</code>
                    {collective.bytes !== null &&
                      ` ${formatBytes(collective.bytes)}`}
                  </>
                ) : (
                  <AbsentValue why={trans.__('Its size is not known')} />
                )}
              </td>
              <td>
                <Line
                  collective={collective}
                  line={collective.line}
                  context={context}
                />
              </td>
              <td>
                <Line
                  collective={collective}
                  line={collective.waited}
                  context={context}
                />
              </td>
              <td className="jp-mod-number">
                {collective.between ?? (
                  <AbsentValue
                    why={trans.__('It is not in the generated code')}
                  />
                )}
              </td>
              <td>
                {collective.sources.length > 0 ? (
                  <SourceLink
                    where={collective.sources[collective.sources.length - 1]}
                    context={context}
                    origin={origin}
                  />
                ) : (
                  <AbsentValue why={trans.__('Not called from your code')} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line(props: {
  collective: Collective;
  line: number | null;
  context: IViewContext;
}): JSX.Element {
  const { collective, line, context } = props;
  const { model, trans } = context;
  if (line === null) {
    return <AbsentValue why={trans.__('It is not in the generated code')} />;
  }
  const { variant, compilation, direction } = collective;
  const summary = model.report?.variants.find(({ name }) => name === variant);
  const artifact = summary?.has_cpp_wrapper ? 'cpp' : 'python';
  return (
    <button
      type="button"
      className="jp-Compilescope-link jp-mod-code"
      title={trans.__('Show line %1 in the code', line)}
      onClick={() => {
        model.select({
          text: {
            variant,
            compilation,
            artifact: wrapperName(direction, artifact),
            line
          }
        });
        context.open('code');
      }}
    >
      {line}
    </button>
  );
}
