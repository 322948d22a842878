import * as React from 'react';
import type { Autotuning } from '../../protocol/types';
import { SearchField, Select } from '../common';
import { formatSeconds } from '../../words/format';
import { Prose } from '../common/prose';
import type { IViewContext } from '../views';
import { countOf, durationOf, equalOf, type IEqual } from './choices';
import { NothingTuned } from './empty';
import { TuningCard } from './tuning';

/**
 * Everything that torch tuned in a compilation.
 */
export function AutotuneBody(props: {
  autotunings: readonly Autotuning[];
  why: string;
  variant: string;
  context: IViewContext;
  origin: object;
}): JSX.Element {
  const { autotunings, why, variant, context, origin } = props;
  const { model, trans } = context;
  const [text, setText] = React.useState('');
  const [kind, setKind] = React.useState('');
  const entries = React.useMemo(
    () =>
      equalOf(autotunings).map((equal, index) => ({
        equal,
        index,
        text: [
          equal.tuning.operator,
          ...equal.kernels,
          ...equal.tuning.inputs,
          ...equal.tuning.choices.map(({ name }) => name)
        ]
          .join('\n')
          .toLowerCase()
      })),
    [autotunings]
  );
  if (autotunings.length === 0) {
    return <NothingTuned why={why} variant={variant} context={context} />;
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = entries.filter(
    entry =>
      (!kind || entry.equal.tuning.kind === kind) &&
      words.every(word => entry.text.includes(word))
  );
  const duration = durationOf(autotunings);
  const skipped = autotunings.filter(autotuning => autotuning.skipped).length;
  const total = autotunings.length;
  const count = countOf(shown.map(({ equal }) => equal));
  const linked = ({ kernels }: IEqual) =>
    kernels.some(
      kernel =>
        model.selection.kernel === kernel || model.linked.kernels.has(kernel)
    );
  return (
    <>
      <div
        className="jp-Compilescope-controls"
        role="toolbar"
        aria-label={trans.__('Which autotunings are shown')}
      >
        <SearchField
          label={trans.__('Filter by operator, kernel or choice')}
          value={text}
          onChange={setText}
        />
        <Select
          label={trans.__('Chosen')}
          value={kind}
          options={[
            { value: '', label: trans.__('all') },
            { value: 'algorithm', label: trans.__('algorithms') },
            { value: 'config', label: trans.__('configurations') }
          ]}
          onChange={setKind}
        />
        <span className="jp-Compilescope-kernelTotals" role="status">
          {count === total
            ? trans._n('%1 autotuning', '%1 autotunings', total)
            : trans.__('%1 of %2 autotunings', count, total)}
          {duration !== null &&
            `, ${trans.__('%1 spent measuring', formatSeconds(duration))}`}
          {skipped > 0 &&
            `, ${skipped === total ? trans.__('all skipped') : trans.__('%1 skipped', skipped)}`}
        </span>
      </div>
      <ul className="jp-Compilescope-autotunings">
        {shown.map(({ equal, index }, place) => (
          <li key={index}>
            {equal.tuning.skipped &&
              equal.tuning.skipped !==
                shown[place - 1]?.equal.tuning.skipped && (
                <p className="jp-Compilescope-tuningSkipped">
                  <Prose text={equal.tuning.skipped} />
                </p>
              )}
            <TuningCard
              equal={equal}
              isOpenFirst={place === 0 && !equal.tuning.skipped}
              isMarked={linked(equal)}
              context={context}
              origin={origin}
            />
          </li>
        ))}
      </ul>
      {shown.length === 0 && (
        <p className="jp-Compilescope-tableNone">
          {trans.__('No autotuned operator matches the filter.')}
        </p>
      )}
    </>
  );
}
