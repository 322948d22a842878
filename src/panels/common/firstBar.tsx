import { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';
import { formatSeconds } from '../../words/format';

/**
 * The parts of a first call as a bar.
 *
 * @param props.longest - The time that is as wide as the bar may be.
 */
export function FirstBar(props: {
  parts: Readonly<Record<string, number>>;
  longest: number;
  trans: TranslationBundle;
}): JSX.Element {
  const { parts, longest, trans } = props;
  return (
    <span className="jp-Compilescope-firstBar" aria-hidden="true">
      {Object.keys(PARTS)
        .filter(part => (parts[part] ?? 0) > 0)
        .map(part => (
          <span
            key={part}
            className={partClass(part)}
            style={{
              width: `${longest > 0 ? (parts[part] / longest) * 100 : 0}%`
            }}
            title={`${partTitle(part, trans)}: ${formatSeconds(parts[part])}`}
          />
        ))}
    </span>
  );
}

/**
 * The parts of a first call, in the order in which they come, and the colours
 * of the Compile time view.
 */
export const PARTS: Readonly<Record<string, string>> = {
  dynamo: 'dynamo',
  aot_autograd: 'aot_autograd',
  inductor: 'lowering',
  code_generation: 'code_generation',
  triton: 'triton',
  cpp_build: 'cpp_build',
  other: 'other'
};

export function partClass(part: string): string {
  return `jp-Compilescope-kind jp-mod-${PARTS[part]}`;
}

export function partTitle(part: string, trans: TranslationBundle): string {
  switch (part) {
    case 'dynamo':
      return trans.__('Dynamo');
    case 'aot_autograd':
      return trans.__('AOTAutograd');
    case 'inductor':
      return trans.__('Inductor');
    case 'code_generation':
      return trans.__('code generation');
    case 'cpp_build':
      return trans.__('C++ build');
    case 'triton':
      return trans.__('Triton');
    default:
      return trans.__('other');
  }
}
