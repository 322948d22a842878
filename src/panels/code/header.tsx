import type { TranslationBundle } from '@jupyterlab/translation';
import {
  collapseAllIcon,
  copyIcon,
  expandAllIcon,
  ReactWidget,
  searchIcon,
  type LabIcon
} from '@jupyterlab/ui-components';
import * as React from 'react';
import { grouped, type IAddress, type Side } from '../../code/artifacts';
import { FORMS } from '../../protocol/types';
import { formName, kernelText } from '../../code/forms';
import { formatCount } from '../../words/format';
import { wrapIcon } from './icons';
import type {
  Artifact,
  CompilationSummary,
  VariantSummary
} from '../../code/types';

/**
 * What the header of a pane shows.
 */
export interface IHeaderState {
  address: IAddress;
  variants: readonly VariantSummary[];
  compilation: CompilationSummary | null;
  /** The number of lines; null while there is no text. */
  lines: number | null;
  pending: boolean;
  wrap: boolean;
  /** Whether the text has kernels, and is shown in a way in which they can be folded. */
  foldable: boolean;
  /** Whether the commands on the text apply: there is an editor. */
  enabled: boolean;
}

/**
 * The actions in the header of a pane.
 */
export interface IHeaderActions {
  pick: (change: Partial<IAddress>) => void;
  copy: () => void;
  fold: (on: boolean) => void;
  wrap: (on: boolean) => void;
  search: () => void;
}

/**
 * The upper part of a pane: what it shows, and the actions on it.
 */
export class PaneHeader extends ReactWidget {
  constructor(side: Side, actions: IHeaderActions, trans: TranslationBundle) {
    super();
    this._side = side;
    this._actions = actions;
    this._trans = trans;
    this.addClass('jp-Compilescope-code-header');
    this.node.setAttribute('role', 'toolbar');
    this.node.setAttribute('aria-label', sideLabel(side, trans));
  }

  set state(state: IHeaderState | null) {
    this._state = state;
    this.update();
  }

  protected override render(): JSX.Element | null {
    return this._state ? (
      <Header
        {...this._state}
        actions={this._actions}
        side={sideLabel(this._side, this._trans)}
        trans={this._trans}
      />
    ) : null;
  }

  private _side: Side;
  private _state: IHeaderState | null = null;
  private _actions: IHeaderActions;
  private _trans: TranslationBundle;
}

function sideLabel(side: Side, trans: TranslationBundle): string {
  return side === 'left' ? trans.__('Left side') : trans.__('Right side');
}

interface IHeaderProps extends IHeaderState {
  actions: IHeaderActions;
  side: string;
  trans: TranslationBundle;
}

function Header(props: IHeaderProps): JSX.Element {
  const { actions, address, compilation, enabled, side, trans } = props;
  const variant = props.variants.find(item => item.name === address.variant);
  const groups = grouped(compilation);
  const text = kernelText(compilation, address.artifact);
  const isCompiled = !!text?.kernel.forms.length;
  const shown = text?.kernel.name ?? address.artifact;
  const listed = compilation?.artifacts.some(a => a.name === shown);
  const pickText = (form: string, config: string) =>
    actions.pick({ artifact: formName(text!.kernel, form, config) });
  const ids = variant?.compilations ?? [];
  return (
    <>
      <span
        className={`jp-Compilescope-code-pickers${isCompiled ? ' jp-mod-forms' : ''}`}
      >
        <Picker
          label={trans.__('%1: variant', side)}
          value={address.variant}
          onChange={value => actions.pick({ variant: value })}
        >
          {!variant && (
            <option value={address.variant}>{address.variant}</option>
          )}
          {props.variants.map(item => (
            <option key={item.name} value={item.name}>
              {item.name}
            </option>
          ))}
        </Picker>
        {ids.length > 1 && (
          <Picker
            label={trans.__('%1: compilation', side)}
            value={address.compilation}
            onChange={value => actions.pick({ compilation: value })}
          >
            {ids.map(item => (
              <option key={item.id} value={item.id}>
                {`${item.id} ${item.name}`.trim()}
              </option>
            ))}
          </Picker>
        )}
        {compilation && (
          <Picker
            label={trans.__('%1: artifact', side)}
            value={shown}
            onChange={value => actions.pick({ artifact: value })}
            grow
          >
            {!listed && <option value={shown}>{shown}</option>}
            {groups.map(([group, artifacts]) => (
              <optgroup key={group} label={groupLabel(group, trans)}>
                {artifacts.map(item => (
                  <option key={item.name} value={item.name}>
                    {item.label || item.name}
                  </option>
                ))}
              </optgroup>
            ))}
          </Picker>
        )}
        {isCompiled && (
          <Picker
            label={trans.__('%1: form of the kernel', side)}
            value={text.form}
            onChange={form => pickText(form, form && text.config)}
          >
            <option value="">{trans.__('source')}</option>
            {text.kernel.forms.map(form => (
              <option key={form} value={form}>
                {FORMS[form]}
              </option>
            ))}
          </Picker>
        )}
        {text?.form && text.kernel.configs.length > 0 && (
          <Picker
            label={trans.__('%1: launch configuration', side)}
            value={text.config}
            onChange={config => pickText(text.form, config)}
          >
            <option value="">{trans.__('first config')}</option>
            {text.kernel.configs.map(config => (
              <option key={config} value={config}>
                {config}
              </option>
            ))}
          </Picker>
        )}
      </span>
      <span className="jp-Compilescope-code-tools">
        <span className="jp-Compilescope-code-lines" aria-live="off">
          {props.pending
            ? trans.__('updating…')
            : props.lines !== null &&
              trans._n(
                '%2 line',
                '%2 lines',
                props.lines,
                formatCount(props.lines)
              )}
        </span>
        <span className="jp-Compilescope-code-buttons">
          <IconButton
            icon={copyIcon}
            label={trans.__('Copy all')}
            enabled={enabled}
            onClick={actions.copy}
          />
          <IconButton
            icon={collapseAllIcon}
            label={trans.__('Fold kernels')}
            enabled={enabled && props.foldable}
            onClick={() => actions.fold(true)}
          />
          <IconButton
            icon={expandAllIcon}
            label={trans.__('Unfold kernels')}
            enabled={enabled && props.foldable}
            onClick={() => actions.fold(false)}
          />
          <IconButton
            icon={wrapIcon}
            label={trans.__('Wrap long lines')}
            enabled={enabled}
            pressed={props.wrap}
            onClick={() => actions.wrap(!props.wrap)}
          />
          <IconButton
            icon={searchIcon}
            label={trans.__('Search')}
            enabled={enabled}
            onClick={actions.search}
          />
        </span>
      </span>
    </>
  );
}

function groupLabel(
  group: Artifact['group'],
  trans: TranslationBundle
): string {
  switch (group) {
    case 'code':
      return trans.__('Generated code');
    case 'graph':
      return trans.__('Graphs');
    case 'kernel':
      return trans.__('Kernels');
    case 'raw':
      return trans.__('Other trace records');
  }
}

interface IPickerProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  grow?: boolean;
  children: React.ReactNode;
}

function Picker(props: IPickerProps): JSX.Element {
  return (
    <select
      className={
        props.grow
          ? 'jp-Compilescope-code-picker jp-mod-grow'
          : 'jp-Compilescope-code-picker'
      }
      aria-label={props.label}
      title={props.label}
      value={props.value}
      onChange={event => props.onChange(event.target.value)}
    >
      {props.children}
    </select>
  );
}

interface IIconButtonProps {
  icon: LabIcon;
  label: string;
  enabled: boolean;
  pressed?: boolean;
  onClick: () => void;
}

/**
 * An icon button, with a name for screen readers and a tooltip.
 */
export function IconButton(props: IIconButtonProps): JSX.Element {
  return (
    <button
      type="button"
      className="jp-Compilescope-code-button"
      aria-label={props.label}
      title={props.label}
      aria-pressed={props.pressed}
      disabled={!props.enabled}
      onClick={props.onClick}
    >
      <props.icon.react tag="span" elementSize="normal" />
    </button>
  );
}
