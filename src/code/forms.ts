import { FORM_LANGUAGES, FORMS } from '../protocol/types';
import type { Artifact, CompilationSummary } from './types';

/**
 * A text of a kernel: its source, or what one of its launch configurations was compiled to.
 */
export interface IKernelText {
  /** The artifact with the kernel's source. */
  kernel: Artifact;
  /** As in `FORMS`; empty for the source. */
  form: string;
  /** The name of the launch configuration; empty for the usual one. */
  config: string;
}

/** The corresponding machine code of another vendor. */
const SAME_LEVEL_FORMS: Record<string, readonly string[]> = {
  ptx: ['amdgcn'],
  sass: ['amdgcn'],
  amdgcn: ['sass', 'ptx']
};

/** The name of the artifact that holds a text of a kernel. */
export function formName(
  { name }: Artifact,
  form: string,
  config: string
): string {
  return form ? `${name}.${form}${config && `@${config}`}` : name;
}

/**
 * The kernel's text that an artifact's name refers to; null for another
 * artifact, and for a kernel that the compilation does not have.
 */
export function kernelText(
  compilation: CompilationSummary | null,
  name: string
): IKernelText | null {
  for (const kernel of compilation?.artifacts ?? []) {
    if (kernel.group !== 'kernel') {
      continue;
    }
    if (kernel.name === name) {
      return { kernel, form: '', config: '' };
    }
    if (name.startsWith(`${kernel.name}.`)) {
      const [form, ...rest] = name.slice(kernel.name.length + 1).split('@');
      if (form in FORMS) {
        return { kernel, form, config: rest.join('@') };
      }
    }
  }
  return null;
}

/**
 * The text of a kernel that comes nearest to one that may not be there: of the usual configuration,
 * or in another vendor's machine code. Where nothing was compiled the text stays, so that the side
 * can say so.
 */
export function nearestText(text: IKernelText): IKernelText {
  const { kernel, form } = text;
  const config = kernel.configs.includes(text.config) ? text.config : '';
  const available = [form, ...(SAME_LEVEL_FORMS[form] ?? [])].find(candidate =>
    kernel.forms.includes(candidate)
  );
  return { kernel, form: available ?? form, config: available ? config : '' };
}

/** A text of a kernel as an artifact; the kernel's forms are listed with the source alone. */
export function formArtifact(text: IKernelText): Artifact {
  const { kernel, form, config } = text;
  return form
    ? {
        ...kernel,
        name: formName(kernel, form, config),
        label: `${kernel.label}: ${FORMS[form]}${config && `, ${config}`}`,
        language: FORM_LANGUAGES[form],
        lines: 0,
        forms: [],
        configs: []
      }
    : kernel;
}
