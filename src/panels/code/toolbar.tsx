import type { TranslationBundle } from '@jupyterlab/translation';
import {
  caretDownIcon,
  caretUpIcon,
  ReactWidget
} from '@jupyterlab/ui-components';
import * as React from 'react';
import type { ILaunchCount } from '../../code/comparison';
import { IconButton } from './header';
import { swapIcon } from './icons';
import type { Mode } from '../../code/mode';
import { formatCount } from '../../words/format';

/**
 * What the toolbar shows.
 */
export interface IToolbarState {
  mode: Mode;
  modes: readonly Mode[];
  /** Whether the panes are stacked: then they cannot be aligned. */
  stacked: boolean;
  identical: boolean;
  /** The number of changes; null without a diff. */
  changes: number | null;
  launches: ILaunchCount;
}

/**
 * The actions of the toolbar.
 */
export interface IToolbarActions {
  mode: (mode: Mode) => void;
  swap: () => void;
  change: (step: 1 | -1) => void;
}

/**
 * The way of comparing the two sides, and its result.
 */
export class CompareToolbar extends ReactWidget {
  constructor(actions: IToolbarActions, trans: TranslationBundle) {
    super();
    this._actions = actions;
    this._trans = trans;
    this.addClass('jp-Compilescope-code-toolbar');
    this.node.setAttribute('role', 'toolbar');
    this.node.setAttribute('aria-label', trans.__('Comparison'));
  }

  set state(state: IToolbarState) {
    this._state = state;
    this.update();
  }

  protected override render(): JSX.Element | null {
    return this._state ? (
      <Toolbar {...this._state} actions={this._actions} trans={this._trans} />
    ) : null;
  }

  private _state: IToolbarState | null = null;
  private _actions: IToolbarActions;
  private _trans: TranslationBundle;
}

interface IToolbarProps extends IToolbarState {
  actions: IToolbarActions;
  trans: TranslationBundle;
}

const MODES: readonly Mode[] = ['aligned', 'diff', 'independent'];

function Toolbar(props: IToolbarProps): JSX.Element {
  const { actions, trans } = props;
  return (
    <>
      <span
        className="jp-Compilescope-code-modes"
        role="group"
        aria-label={trans.__('How to compare')}
      >
        {MODES.map(mode => (
          <button
            key={mode}
            type="button"
            aria-pressed={mode === props.mode}
            disabled={!isOffered(mode, props)}
            title={modeHint(mode, props)}
            onClick={() => actions.mode(mode)}
          >
            {modeLabel(mode, trans)}
          </button>
        ))}
      </span>
      {props.stacked && props.modes.includes('aligned') && (
        <span className="jp-Compilescope-muted">{tooNarrow(trans)}</span>
      )}
      <IconButton
        icon={swapIcon}
        label={trans.__('Swap sides')}
        enabled
        onClick={actions.swap}
      />
      <span className="jp-Compilescope-code-summary" role="status">
        {summary(props)}
      </span>
      {props.mode === 'diff' && !props.identical && (
        <span className="jp-Compilescope-code-buttons">
          <IconButton
            icon={caretUpIcon}
            label={trans.__('Previous change')}
            enabled={!!props.changes}
            onClick={() => actions.change(-1)}
          />
          <IconButton
            icon={caretDownIcon}
            label={trans.__('Next change')}
            enabled={!!props.changes}
            onClick={() => actions.change(1)}
          />
        </span>
      )}
    </>
  );
}

function isOffered(mode: Mode, state: IToolbarState): boolean {
  return state.modes.includes(mode) && !(mode === 'aligned' && state.stacked);
}

function modeLabel(mode: Mode, trans: TranslationBundle): string {
  switch (mode) {
    case 'aligned':
      return trans.__('Aligned');
    case 'diff':
      return trans.__('Diff');
    case 'independent':
      return trans.__('Independent');
  }
}

function tooNarrow(trans: TranslationBundle): string {
  return trans.__('Widen the panel to align both sides');
}

function modeHint(mode: Mode, props: IToolbarProps): string {
  const { trans } = props;
  switch (mode) {
    case 'aligned':
      if (!props.modes.includes('aligned')) {
        return trans.__('The two files have no kernel launch in common');
      }
      return props.stacked
        ? tooNarrow(trans)
        : trans.__('Align both sides by kernel launch');
    case 'diff':
      return props.modes.includes('diff')
        ? trans.__('Compare both sides line by line')
        : trans.__('A diff needs a file on both sides');
    case 'independent':
      return trans.__('Scroll each side independently');
  }
}

function summary(props: IToolbarProps): string {
  const { changes, launches, trans } = props;
  if (props.identical) {
    return trans.__('Identical: both sides show the same code');
  }
  if (props.mode === 'diff') {
    return changes === null
      ? ''
      : trans._n('%2 change', '%2 changes', changes, formatCount(changes));
  }
  if (!launches.left || !launches.right) {
    return '';
  }
  if (launches.left === launches.right && launches.aligned === launches.left) {
    return trans._n(
      '%2 launch, on both sides',
      '%2 launches, all on both sides',
      launches.left,
      formatCount(launches.left)
    );
  }
  return trans.__(
    '%1 launches matched (%2 left, %3 right)',
    formatCount(launches.aligned),
    formatCount(launches.left),
    formatCount(launches.right)
  );
}
