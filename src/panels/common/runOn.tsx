import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { Select } from './search';

/**
 * Where processes run: the kernel's machine, or an executor that the user has named.
 */
export interface IRunOn {
  readonly executors: readonly string[];

  /**
   * The executor's name; empty for the kernel's machine.
   */
  readonly executor: string;
  readonly choose: (executor: string) => void;
}

/**
 * The selected executor. If it no longer has a name, the selection is reset.
 */
export function useRunOn(executors: readonly string[]): IRunOn {
  const [chosen, choose] = React.useState('');
  const executor = executors.includes(chosen) ? chosen : '';
  return { executors, executor, choose };
}

/**
 * A field to choose where processes run; nothing if there is no executor.
 */
export function RunOn(props: {
  runOn: IRunOn;
  trans: TranslationBundle;
}): JSX.Element | null {
  const { runOn, trans } = props;
  if (runOn.executors.length === 0) {
    return null;
  }
  return (
    <Select
      label={trans.__('run on')}
      value={runOn.executor}
      options={[
        { value: '', label: trans.__('this machine') },
        ...runOn.executors.map(name => ({ value: name, label: name }))
      ]}
      onChange={runOn.choose}
    />
  );
}
