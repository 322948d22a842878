import * as React from 'react';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Guard } from '../../protocol/types';
import { Check, SearchField, Select } from '../common';
import type { IGuardOptions } from './filter';

/**
 * The display of the guards: arrangement, order and filter.
 */
export function Controls(props: {
  guards: readonly Guard[];
  hasTree: boolean;

  /**
   * The number of guards from the selected line.
   */
  marked: number;

  /**
   * Whether any line is selected.
   */
  hasLine: boolean;
  options: IGuardOptions;
  onChange: (change: Partial<IGuardOptions>) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { guards, options, onChange, trans } = props;
  const types = React.useMemo(
    () =>
      [...new Set(guards.map(guard => guard.type))]
        .filter(Boolean)
        .sort((a, b) => a.localeCompare(b)),
    [guards]
  );
  const hasPython = guards.some(guard => guard.language === 'python');
  return (
    <div
      className="jp-Compilescope-controls"
      role="search"
      aria-label={trans.__('Which guards to show')}
    >
      <SearchField
        label={trans.__('Filter the guards')}
        value={options.text}
        onChange={text => onChange({ text })}
      />
      <Select
        label={trans.__('Show as')}
        value={options.arrangement}
        options={[
          ...(props.hasTree
            ? [{ value: 'tree', label: trans.__('torch’s tree') }]
            : []),
          { value: 'source', label: trans.__('by source') },
          { value: 'table', label: trans.__('table') }
        ]}
        onChange={value =>
          onChange({ arrangement: value as IGuardOptions['arrangement'] })
        }
      />
      {options.arrangement !== 'table' && (
        <Select
          label={trans.__('Order')}
          value={options.order}
          options={[
            { value: 'order', label: trans.__('as torch checks') },
            { value: 'cost', label: trans.__('costliest first') },
            { value: 'fails', label: trans.__('most failed first') },
            { value: 'source', label: trans.__('by source') }
          ]}
          onChange={value =>
            onChange({ order: value as IGuardOptions['order'] })
          }
        />
      )}
      <Select
        label={trans.__('Type')}
        value={options.type}
        options={[
          { value: '', label: trans.__('all') },
          ...types.map(value => ({ value, label: value }))
        ]}
        onChange={type => onChange({ type })}
      />
      <div className="jp-Compilescope-checks">
        <Check
          label={trans.__('Python only')}
          title={trans.__(
            'Only guards that are checked in Python, which is slow'
          )}
          isOn={options.language === 'python'}
          disabled={!hasPython && options.language === ''}
          onChange={on => onChange({ language: on ? 'python' : '' })}
        />
        <Check
          label={trans.__('Failed only')}
          isOn={options.failing}
          onChange={failing => onChange({ failing })}
        />
        <Check
          label={
            props.marked > 0
              ? trans.__('Selected line only (%1)', props.marked)
              : trans.__('Selected line only')
          }
          title={
            props.marked > 0
              ? trans.__('Only guards that come from the selected line')
              : props.hasLine
                ? trans.__('No guard comes from the selected line')
                : trans.__(
                    'No line is selected: click a guard, or a line of your code'
                  )
          }
          isOn={options.selected}
          disabled={props.marked === 0 && !options.selected}
          onChange={selected => onChange({ selected })}
        />
      </div>
    </div>
  );
}
