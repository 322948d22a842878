import type {
  ArtifactResult,
  Compilation,
  Kernel,
  KernelConfig
} from '../../protocol/types';
import { FORM_LANGUAGES, FORMS } from '../../protocol/types';

/**
 * The name of the artifact with a kernel's source; this and what follows as
 * `compiled.py`.
 */
export function artifactName({ direction, name }: Kernel): string {
  return `kernel.${direction}.${name}`;
}

/**
 * What it was compiled to, in the order in which the compiler makes it.
 */
export function formsOf({ assembly }: Kernel | KernelConfig): string[] {
  return Object.keys(FORMS).filter(form => form in assembly);
}

/**
 * The names of the launch configurations that have texts of their own.
 */
export function configsOf({ configs }: Kernel): string[] {
  return configs
    .filter(each => !each.usual && Object.keys(each.assembly).length > 0)
    .map(each => each.name);
}

/**
 * The text of a compiled kernel; null where the name is of none that there is.
 */
export function compiledOf(
  { kernels }: Compilation,
  name: string
):
  | (Omit<ArtifactResult, 'artifact'> & {
      label: string;
      language: string;
    })
  | null {
  for (const kernel of kernels) {
    const asked = parse(kernel, name);
    const made = asked && madeOf(kernel, asked.config);
    if (made && asked.form in made.assembly) {
      const { form, config } = asked;
      return {
        label: `${kernel.name}: ${FORMS[form]}${config && `, ${config}`}`,
        language: FORM_LANGUAGES[form],
        text: made.assembly[form],
        regions: [],
        lines: made.assembly_lines[form] ?? [],
        source: kernel.source
      };
    }
  }
  return null;
}

/**
 * Why there is no such text of a compiled kernel, where that is known.
 */
export function whyNotCompiled({ kernels }: Compilation, name: string): string {
  for (const kernel of kernels) {
    const asked = parse(kernel, name);
    if (asked) {
      const why = kernel.configs.find(each => each.name === asked.config)?.why;
      return (why || kernel.absent[asked.form] || kernel.absent.assembly) ?? '';
    }
  }
  return '';
}

/**
 * A kernel without its source and assembly; of the assembly the forms are told.
 */
export function withoutTexts(kernel: Kernel): Kernel {
  return {
    ...kernel,
    source: '',
    assembly: named(kernel.assembly),
    assembly_lines: {},
    configs: kernel.configs.map(each => ({
      ...each,
      assembly: named(each.assembly),
      assembly_lines: {}
    }))
  };
}

/**
 * The form and the launch configuration that an artifact's name asks for; null
 * where it is not of this kernel.
 */
function parse(
  kernel: Kernel,
  name: string
): { form: string; config: string } | null {
  const prefix = `${artifactName(kernel)}.`;
  if (!name.startsWith(prefix)) {
    return null;
  }
  const [form, ...rest] = name.slice(prefix.length).split('@');
  return form in FORMS ? { form, config: rest.join('@') } : null;
}

function madeOf(
  kernel: Kernel,
  config: string
): Kernel | KernelConfig | undefined {
  return config ? kernel.configs.find(each => each.name === config) : kernel;
}

function named(texts: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.keys(texts).map(form => [form, '']));
}
