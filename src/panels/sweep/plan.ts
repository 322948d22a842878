import type { TranslationBundle } from '@jupyterlab/translation';
import { DEFAULT_VARIANT } from '../../model/variants';
import type { Sweep, Variant, VariantSummary } from '../../protocol/types';
import { parseOptions } from './options';

/**
 * A set of arguments.
 */
export interface IShape {
  readonly name: string;

  /**
   * As in a call.
   */
  readonly args: string;
}

/**
 * The values of the form.
 */
export interface IForm {
  readonly modes: readonly string[];
  readonly wrappers: readonly boolean[];
  readonly dynamics: readonly (boolean | null)[];

  /**
   * Further sets of settings, one per line.
   */
  readonly options: string;

  /**
   * None for the report's own call.
   */
  readonly shapes: readonly IShape[];

  /**
   * How long each cell is timed, and its time limit, in seconds.
   */
  readonly seconds: number;
  readonly timeout: number;
  readonly resume: boolean;
}

/**
 * The sweep that the form describes.
 */
export interface IPlan {
  readonly variants: readonly Variant[];
  readonly shapes: Readonly<Record<string, string>>;
  readonly cells: number;

  /**
   * The factors of the cells: `3 modes × 2 wrappers`; empty for one factor.
   */
  readonly product: string;

  /**
   * Why it cannot be started; empty if it can.
   */
  readonly obstacle: string;
}

/**
 * The mode that needs no name.
 */
const DEFAULT_MODE = 'default';

/**
 * A useful first comparison, which takes minutes.
 *
 * @param modes - The modes of the installed torch.
 */
export function firstForm(modes: readonly string[]): IForm {
  const first = [DEFAULT_MODE, 'max-autotune-no-cudagraphs'];
  return {
    modes: first.filter(mode => mode === DEFAULT_MODE || modes.includes(mode)),
    wrappers: [false, true],
    dynamics: [null],
    options: '',
    shapes: [],
    seconds: 2,
    timeout: 300,
    resume: true
  };
}

/**
 * The modes to choose from; the default is always the first of them.
 */
export function modesOf(modes: readonly string[]): string[] {
  return [DEFAULT_MODE, ...modes.filter(mode => mode !== DEFAULT_MODE)];
}

/**
 * The cells of a form: every variant with every set of arguments.
 */
export function planOf(form: IForm, trans: TranslationBundle): IPlan {
  let sets: Readonly<Record<string, unknown>>[] = [{}];
  let obstacle = '';
  try {
    sets = [{}, ...parseOptions(form.options, trans)];
  } catch (error) {
    obstacle = (error as Error).message;
  }
  const variants = form.modes.flatMap(mode =>
    form.wrappers.flatMap(cpp_wrapper =>
      form.dynamics.flatMap(dynamic =>
        sets.map(options => ({
          ...DEFAULT_VARIANT,
          mode: mode === DEFAULT_MODE ? null : mode,
          cpp_wrapper,
          dynamic,
          options: { ...options }
        }))
      )
    )
  );
  const { modes, wrappers, dynamics, shapes } = form;
  const factors = [
    trans._n('%1 mode', '%1 modes', modes.length),
    trans._n('%1 wrapper', '%1 wrappers', wrappers.length),
    dynamics.length > 1 &&
      trans._n('%1 value of dynamic', '%1 values of dynamic', dynamics.length),
    sets.length > 1 &&
      trans._n('%1 set of options', '%1 sets of options', sets.length),
    shapes.length > 1 && trans._n('%1 shape', '%1 shapes', shapes.length)
  ].filter((part): part is string => !!part);
  return {
    variants,
    shapes: Object.fromEntries(
      shapes.map(({ name, args }) => [name.trim(), args.trim()])
    ),
    cells: variants.length * Math.max(1, shapes.length),
    product: factors.join(' × '),
    obstacle: obstacle || whyNot(form, trans)
  };
}

function whyNot(form: IForm, trans: TranslationBundle): string {
  const { modes, wrappers, dynamics, shapes } = form;
  if (!modes.length || !wrappers.length || !dynamics.length) {
    return trans.__('Select at least one value of each switch.');
  }
  const names = shapes.map(({ name }) => name.trim());
  const texts = shapes.map(({ args }) => args.trim());
  if (names.includes('') || texts.includes('')) {
    return trans.__('Every shape needs a name and arguments.');
  }
  const twice = (values: readonly string[]) =>
    values.find((text, index) => values.indexOf(text) < index);
  const same = twice(names) ?? twice(texts);
  return same === undefined ? '' : trans.__('“%1” is listed twice.', same);
}

/**
 * The time of a cell apart from its first call and its measurement, in seconds,
 * if no cell has finished yet: a process that imports torch, a call of eager.
 */
const START = 8;

/**
 * The time of a first call if none was measured, in seconds.
 */
const FIRST_CALL = 7;

/**
 * The time of cells, one after the other, in seconds: estimated from the
 * sweep's cells, otherwise from the first calls of the report's variants.
 */
export function durationOf(
  cells: number,
  seconds: number,
  sweep: Sweep | null,
  variants: readonly VariantSummary[]
): number {
  const firstCalls = variants.flatMap(({ compile_s }) => compile_s ?? []);
  const guess = START + (mean(firstCalls) ?? FIRST_CALL) + seconds;
  return cells * (sweep?.cell_s ?? guess);
}

function mean(values: readonly number[]): number | null {
  return values.length > 0
    ? values.reduce((sum, value) => sum + value, 0) / values.length
    : null;
}
