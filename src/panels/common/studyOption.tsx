import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { isActive } from '../../model/jobs';
import type { StudyChoice, StudyName } from '../../protocol/types';
import { STUDY_OPTIONS } from '../../protocol/types';
import { formatElapsed, formatRoughly } from '../../words/format';
import type { IViewContext } from '../views';
import { Check } from './search';
import { useLoaded } from './states/loaded';

/**
 * Lower bounds are rounded down to a multiple of this (s), so that they remain
 * lower bounds.
 */
const STEP = 10;

/**
 * An option of a study: its possible values for a variant, and those that are
 * ticked.
 */
export interface IStudyOption {
  readonly name: string;
  readonly choices: readonly StudyChoice[];
  readonly selected: ReadonlySet<string>;
  readonly select: (selected: ReadonlySet<string>) => void;
}

/**
 * An option of a study; null until the kernel has sent its values.
 *
 * Everything that can be tried is ticked initially.
 */
export function useStudyOption(
  study: StudyName,
  name: string,
  context: IViewContext
): IStudyOption | null {
  const { model } = context;
  const { job, variant } = model;
  const isAsked =
    model.isLive &&
    model.status.kind === 'ready' &&
    (model.report?.variants ?? []).some(known => known.name === variant);
  const loaded = useLoaded(
    isAsked ? () => model.getStudyChoices(study, variant) : null,
    // After a job the estimates are different.
    [model.subject, variant, isActive(job) ? '' : (job?.id ?? '')].join('\n'),
    '',
    [model.subject, variant].join('\n')
  );
  const [dropped, setDropped] = React.useState<ReadonlySet<string>>(new Set());
  if (loaded.kind !== 'data') {
    return null;
  }
  const choices = loaded.data[name] ?? [];
  const able = choices.filter(({ why }) => why === '');
  return {
    name,
    choices,
    selected: new Set(
      able.map(choice => choice.name).filter(known => !dropped.has(known))
    ),
    select: selected =>
      setDropped(
        new Set(
          able.map(choice => choice.name).filter(known => !selected.has(known))
        )
      )
  };
}

/**
 * The selection to send to the kernel; nothing if everything is selected.
 */
export function selectedOf(
  option: IStudyOption | null
): Record<string, string[]> | undefined {
  if (!option) {
    return undefined;
  }
  const able = option.choices.filter(({ why }) => why === '');
  return able.every(({ name }) => option.selected.has(name))
    ? undefined
    : { [option.name]: [...option.selected] };
}

/**
 * The estimated time of the selection, as far as the kernel knows it; empty if
 * it does not.
 */
export function estimateOf(
  { choices, selected }: Pick<IStudyOption, 'choices' | 'selected'>,
  trans: TranslationBundle
): string {
  const taken = choices.filter(({ name }) => selected.has(name));
  const seconds = taken.reduce(
    (sum, { estimate_s }) => sum + (estimate_s ?? 0),
    0
  );
  if (
    taken.every(({ estimate_s, is_least }) => estimate_s !== null && !is_least)
  ) {
    return seconds > 0
      ? trans.__('%1 if as fast as last time', formatRoughly(seconds, trans))
      : '';
  }
  const least = STEP * Math.floor(seconds / STEP);
  return least > 0
    ? trans.__('estimated: at least %1', formatElapsed(least, trans))
    : '';
}

/**
 * Checkboxes for what a study is to do.
 */
export function StudyOptionForm(props: {
  study: StudyName;
  option: IStudyOption;
  trans: TranslationBundle;
}): JSX.Element {
  const { option, trans } = props;
  const { choices, selected, select } = option;
  const able = choices.filter(({ why }) => why === '');
  const tick = (label: string, names: readonly string[]) => (
    <button
      type="button"
      className="jp-Compilescope-link"
      disabled={names.length === selected.size}
      onClick={() => select(new Set(names))}
    >
      {label}
    </button>
  );
  return (
    <fieldset className="jp-Compilescope-studyOption">
      <legend>{STUDY_OPTIONS[props.study]?.[option.name]}</legend>
      {choices.map(({ name, title, why }) => (
        <Check
          key={name}
          label={name}
          isOn={selected.has(name)}
          disabled={why !== ''}
          title={why || title}
          onChange={on =>
            select(
              new Set(
                able
                  .map(choice => choice.name)
                  .filter(known => (known === name ? on : selected.has(known)))
              )
            )
          }
        />
      ))}
      <span>
        {tick(
          trans.__('All'),
          able.map(({ name }) => name)
        )}{' '}
        {tick(trans.__('None'), [])}
      </span>
    </fieldset>
  );
}
