import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabIcon } from '@jupyterlab/ui-components';
import { caretDownIcon, caretUpIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import { COLOR_MODES } from '../../graph/color/coloring';
import { stageBefore } from '../../graph/diff/stages';
import { hasKernelNames, launchTimes } from '../../graph/kernels';
import { SearchField, Select } from '../common';
import {
  decomposeIcon,
  fitIcon,
  minusIcon,
  openIcon,
  outlineIcon,
  plusIcon,
  shutIcon,
  splitIcon
} from './icons';
import type { IGraphData, IPaneHandle, ISettings } from './types';
import { basisTitle, modeTitle } from './words';

/**
 * Why a coloring is not available for a stage; empty if it is.
 */
export function whyNot(
  mode: ISettings['mode'],
  data: IGraphData,
  stage: string,
  trans: TranslationBundle
): string {
  switch (mode) {
    case 'kernel':
      return data.kernels.length === 0
        ? trans.__('no kernels')
        : hasKernelNames(stage)
          ? ''
          : trans.__('not before AOTAutograd');
    case 'time':
      return data.kernels.some(kernel => launchTimes(kernel).length > 0)
        ? ''
        : trans.__('no kernel was measured');
    case 'change':
      return stageBefore(stage, data.stages) ? '' : trans.__('first stage');
    default:
      return '';
  }
}

/**
 * The controls for both sides; zoom, search and save act on the active one.
 */
export function GraphToolbar(props: {
  trans: TranslationBundle;
  data: IGraphData;

  /**
   * The shown stages.
   */
  shown: readonly string[];
  settings: ISettings;
  onSettings: (change: Partial<ISettings>) => void;
  isSplit: boolean;
  onSplit: () => void;
  handle: () => IPaneHandle | null;

  /**
   * Opens or closes the groups of all shown stages.
   */
  onAll: (isOpen: boolean) => void;

  /**
   * Writes the active stage as a program; null without a kernel.
   */
  onProgram: (() => void) | null;
}): JSX.Element {
  const { trans, data, shown, settings, onSettings, handle } = props;
  const bases = ['module', 'function', 'kernel', 'none'] as const;
  // It is enough if one stage supports the coloring.
  const why = (mode: ISettings['mode']) => {
    const reasons = shown.map(stage => whyNot(mode, data, stage, trans));
    return reasons.includes('') ? '' : reasons[0];
  };
  const missing = why(settings.mode);
  return (
    <div
      className="jp-Compilescope-controls jp-Compilescope-graph-toolbar"
      role="toolbar"
      aria-label={trans.__('Graph')}
    >
      <label className="jp-Compilescope-pick">
        <span>{trans.__('Color')}</span>
        <select
          value={settings.mode}
          title={missing}
          onChange={event =>
            onSettings({ mode: event.currentTarget.value as never })
          }
        >
          {COLOR_MODES.map(mode => {
            const reason = why(mode);
            const title = modeTitle(mode, trans);
            return (
              <option
                key={mode}
                value={mode}
                disabled={reason !== ''}
                title={reason}
              >
                {reason ? trans.__('%1 (%2)', title, reason) : title}
              </option>
            );
          })}
        </select>
      </label>
      <Select
        label={trans.__('Group by')}
        value={settings.basis ?? ''}
        options={[
          { value: '', label: trans.__('Automatic') },
          ...bases.map(basis => ({
            value: basis,
            label: basisTitle(basis, trans)
          }))
        ]}
        onChange={value => onSettings({ basis: (value || null) as never })}
      />
      <div
        className="jp-Compilescope-graph-search"
        onKeyDown={event => {
          const { target } = event;
          if (event.key === 'Enter' && target instanceof HTMLInputElement) {
            event.preventDefault();
            handle()?.find(event.shiftKey ? -1 : 1);
          }
        }}
      >
        <SearchField
          label={trans.__('Find by name, operator, module, shape')}
          short={trans.__('Find')}
          value={settings.query}
          onChange={query => onSettings({ query })}
        />
        <Button
          icon={caretUpIcon}
          label={trans.__('Previous match')}
          disabled={!settings.query}
          onClick={() => handle()?.find(-1)}
        />
        <Button
          icon={caretDownIcon}
          label={trans.__('Next match')}
          disabled={!settings.query}
          onClick={() => handle()?.find(1)}
        />
      </div>
      <span className="jp-Compilescope-graph-buttons jp-mod-zoom">
        <Button
          icon={minusIcon}
          label={trans.__('Zoom out')}
          onClick={() => handle()?.zoom(1 / 1.3)}
        />
        <Button
          icon={plusIcon}
          label={trans.__('Zoom in')}
          onClick={() => handle()?.zoom(1.3)}
        />
        <Button
          icon={fitIcon}
          label={trans.__('Show all')}
          onClick={() => handle()?.fit()}
        />
      </span>
      <span className="jp-Compilescope-graph-buttons">
        <Button
          icon={openIcon}
          label={trans.__('Expand all groups')}
          onClick={() => props.onAll(true)}
        />
        <Button
          icon={shutIcon}
          label={trans.__('Collapse all groups')}
          onClick={() => props.onAll(false)}
        />
      </span>
      <span className="jp-Compilescope-graph-buttons">
        <Button
          icon={splitIcon}
          label={trans.__('Two stages side by side')}
          isPressed={props.isSplit}
          onClick={props.onSplit}
        />
        <Button
          icon={outlineIcon}
          label={trans.__('Outline')}
          isPressed={settings.isOutlined}
          onClick={() => onSettings({ isOutlined: !settings.isOutlined })}
        />
        <Button
          icon={decomposeIcon}
          label={trans.__('Decompositions')}
          isPressed={settings.isListed}
          onClick={() => onSettings({ isListed: !settings.isListed })}
        />
      </span>
      <label className="jp-Compilescope-pick">
        <select
          className="jp-Compilescope-graph-export"
          aria-label={trans.__('Export')}
          value=""
          onChange={event => {
            const kind = event.currentTarget.value;
            if (kind === 'program') {
              props.onProgram?.();
            } else {
              handle()?.export(kind as 'svg' | 'png');
            }
          }}
        >
          <option value="" disabled hidden>
            {trans.__('Export')}
          </option>
          <option value="svg">{trans.__('As SVG')}</option>
          <option value="png">{trans.__('As PNG')}</option>
          {props.onProgram && (
            <option value="program">{trans.__('As standalone program')}</option>
          )}
        </select>
      </label>
    </div>
  );
}

function Button(props: {
  icon: LabIcon;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  isPressed?: boolean;
}): JSX.Element {
  const { icon, label, onClick, disabled, isPressed } = props;
  return (
    <button
      type="button"
      className="jp-Compilescope-graph-button"
      title={label}
      aria-label={label}
      aria-pressed={isPressed}
      disabled={disabled}
      onClick={onClick}
    >
      <icon.react tag="span" width="16px" height="16px" />
    </button>
  );
}
