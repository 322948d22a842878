import type { Guard } from '../../protocol/types';
import type { IEntry, Order } from './rows';

/**
 * The display settings of the guards.
 */
export interface IGuardOptions {
  readonly arrangement: 'tree' | 'source' | 'table';
  readonly order: Order;
  readonly text: string;

  /**
   * A guard's type; empty for all types.
   */
  readonly type: string;
  readonly language: '' | 'cpp' | 'python';
  readonly failing: boolean;

  /**
   * Whether to show only guards from the selected line.
   */
  readonly selected: boolean;
}

/**
 * The initial display settings.
 */
export const DEFAULT_OPTIONS: IGuardOptions = {
  arrangement: 'tree',
  order: 'order',
  text: '',
  type: '',
  language: '',
  failing: false,
  selected: false
};

/**
 * Whether the filter hides anything.
 */
export function isFiltered(options: IGuardOptions): boolean {
  const { text, type, language, failing, selected } = options;
  return !!(text.trim() || type || language || failing || selected);
}

/**
 * Whether a guard passes the filter. Each word of the text must occur in the
 * guard's expression, source, type or line.
 */
export function filterOf(
  options: IGuardOptions,
  isSelected: (guard: Guard) => boolean
): (entry: IEntry) => boolean {
  const words = options.text.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ guard, failed }) => {
    if (
      (options.type && guard.type !== options.type) ||
      (options.language && guard.language !== options.language) ||
      (options.failing && !failed) ||
      (options.selected && !isSelected(guard))
    ) {
      return false;
    }
    if (words.length === 0) {
      return true;
    }
    const { expression, source, type, origin } = guard;
    const line = origin ? `${origin.file}:${origin.line} ${origin.code}` : '';
    const text = `${expression}\n${source}\n${type}\n${line}`.toLowerCase();
    return words.every(word => text.includes(word));
  };
}
