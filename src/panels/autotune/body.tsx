import * as React from 'react';
import type { Autotuning } from '../../protocol/types';
import { SearchField, Select } from '../common';
import { formatSeconds } from '../../words/format';
import type { IViewContext } from '../views';
import { durationOf } from './choices';
import { NothingTuned } from './empty';
import { TuningCard } from './tuning';

/**
 * All that torch tuned in a compilation.
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
      // What was measured first: of what was skipped there is little to see.
      [
        ...autotunings.filter(autotuning => !autotuning.skipped),
        ...autotunings.filter(autotuning => autotuning.skipped)
      ].map((tuning, index) => ({
        tuning,
        index,
        text: [
          tuning.operator,
          tuning.kernel,
          ...tuning.inputs,
          ...tuning.choices.map(({ name }) => name)
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
      (!kind || entry.tuning.kind === kind) &&
      words.every(word => entry.text.includes(word))
  );
  const duration = durationOf(autotunings);
  const skipped = autotunings.filter(autotuning => autotuning.skipped).length;
  const linked = (tuning: Autotuning) =>
    tuning.kernel !== '' &&
    (model.selection.kernel === tuning.kernel ||
      model.linked.kernels.has(tuning.kernel));
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
          {shown.length === entries.length
            ? trans._n('%1 autotuning', '%1 autotunings', entries.length)
            : trans.__('%1 of %2 autotunings', shown.length, entries.length)}
          {duration !== null &&
            `, ${trans.__('%1 spent measuring', formatSeconds(duration))}`}
          {skipped > 0 && `, ${trans.__('%1 skipped', skipped)}`}
        </span>
      </div>
      <ul className="jp-Compilescope-autotunings">
        {shown.map(({ tuning, index }, place) => (
          <li key={index}>
            <TuningCard
              tuning={tuning}
              isOpenFirst={place === 0}
              isMarked={linked(tuning)}
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
