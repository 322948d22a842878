import { clearIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import type {
  SourceLine,
  WatchedCompilation,
  WatchState
} from '../../protocol/types';
import { IconButton } from '../common/button';
import {
  formatCount,
  formatPlace,
  formatSeconds,
  formatTimeOfDay
} from '../../words/format';
import { Section } from './section';
import type { IPartProps } from './types';
import { ProblemCard } from '../common/states/problemCard';

/**
 * The watch: its switch, its state, and the latest compilations.
 */
export function Watch({ state, actions, trans }: IPartProps): JSX.Element {
  const { watch, status } = state;
  const isOn = watch?.on ?? false;
  const isReady = status.kind === 'ready';
  const latest = watch?.latest ?? [];
  const files = state.report?.files ?? {};
  return (
    <Section
      name="watch"
      title={trans.__('Watch')}
      count={watch?.compilations}
      actions={
        <>
          <IconButton
            icon={clearIcon}
            label={trans.__('Clear the recorded compilations')}
            onClick={() => actions.setWatch(isOn, true)}
            disabled={!isReady || !watch?.compilations}
          />
          <input
            type="checkbox"
            role="switch"
            className="jp-Compilescope-toggle"
            aria-label={trans.__('Watch all compilations')}
            aria-checked={isOn}
            title={
              isOn
                ? trans.__('Stop watching; the recorded compilations stay')
                : trans.__('Show every compilation as it happens')
            }
            checked={isOn}
            disabled={!isReady}
            onChange={event => actions.setWatch(event.target.checked, false)}
          />
        </>
      }
    >
      <p className="jp-Compilescope-hint" role="status">
        {describe(watch, trans)}
      </p>
      {watch?.problem && <ProblemCard problem={watch.problem} trans={trans} />}
      {latest.length > 0 && (
        <ol
          className="jp-Compilescope-watched"
          aria-label={trans.__('The latest compilations, newest first')}
        >
          {latest.map(watchedCompilation => (
            <Row
              key={watchedCompilation.id}
              compilation={watchedCompilation}
              files={files}
              isShown={
                state.subject === watch?.subject &&
                state.compilation === watchedCompilation.id
              }
              onShow={actions.showWatched}
              trans={trans}
            />
          ))}
        </ol>
      )}
      {watch && watch.compilations > latest.length && latest.length > 0 && (
        <p className="jp-Compilescope-hint">
          {trans.__('The last %1 of %2', latest.length, watch.compilations)}
        </p>
      )}
    </Section>
  );
}

function describe(watch: WatchState | null, trans: TranslationBundle): string {
  if (!watch?.subject) {
    return trans.__(
      'Turn it on, then run any code: each compilation appears here as it happens.'
    );
  }
  const since =
    watch.on && watch.since_s !== null
      ? trans.__('Since %1', formatTimeOfDay(watch.since_s))
      : trans.__('Off; recorded before');
  return [since, ...watch.counts].join(' · ');
}

function Row(props: {
  compilation: WatchedCompilation;
  files: Record<string, string>;
  isShown: boolean;
  onShow: (id: string, where: SourceLine | null) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { compilation, files, onShow, trans } = props;
  const { id, frame, call, recompile, breaks } = compilation;
  const name = compilation.name || trans.__('unknown frame');
  const place = call ?? frame;
  const { cell_number } = compilation;
  const hasOtherCell = cell_number !== null && cell_number !== place?.cell;
  return (
    <li
      className={`jp-Compilescope-watchedRow${props.isShown ? ' jp-mod-shown' : ''}`}
    >
      <button
        type="button"
        className="jp-Compilescope-watchedName"
        aria-current={props.isShown}
        title={frame ? `${name}\n${frame.file}:${frame.line}` : name}
        onClick={() => onShow(id, null)}
      >
        <span className="jp-Compilescope-watchedId">{id}</span>
        <span className="jp-Compilescope-watchedFrame">{name}</span>
      </button>
      <span className="jp-Compilescope-watchedMarks">
        {recompile && (
          <span className="jp-Compilescope-tag" title={recompile}>
            {trans.__('recompile')}
          </span>
        )}
        {breaks > 0 && (
          <span className="jp-Compilescope-tag jp-mod-warn">
            {trans._n('%2 break', '%2 breaks', breaks, formatCount(breaks))}
          </span>
        )}
        {compilation.outcome_words && (
          <span
            className="jp-Compilescope-tag jp-mod-warn"
            title={compilation.failed}
          >
            {compilation.outcome_words}
          </span>
        )}
      </span>
      <span className="jp-Compilescope-watchedTime">
        {compilation.duration_s === null
          ? trans.__('compiling…')
          : formatSeconds(compilation.duration_s)}
      </span>
      {place && (
        <span className="jp-Compilescope-watchedPlace">
          {hasOtherCell && (
            <span title={trans.__('The cell that ran')}>
              {`[${cell_number}] · `}
            </span>
          )}
          <button
            type="button"
            className="jp-Compilescope-link"
            title={
              call
                ? trans.__(
                    'Go to the torch.compile: %1',
                    `${call.file}:${call.line}`
                  )
                : trans.__('Go to %1', `${place.file}:${place.line}`)
            }
            onClick={() => onShow(id, place)}
          >
            {`${call ? 'torch.compile in ' : ''}${formatPlace(place, files, trans)}`}
          </button>
        </span>
      )}
    </li>
  );
}
