import type { Effective, VariantReport } from '../../protocol/types';

/**
 * A setting in all variants side by side; null if a variant has no value for
 * it.
 */
export interface ISetting {
  readonly setting: string;
  readonly cells: readonly (Effective | null)[];

  /**
   * Whether torch deviated from the request in any variant.
   */
  readonly differs: boolean;
}

/**
 * All settings of some variants: first those where torch deviated from the
 * request, the others in the order in which the variants list them.
 *
 * A variant may list a setting more than once (one reason each): each
 * occurrence has its own row.
 */
export function settingsOf(variants: readonly VariantReport[]): ISetting[] {
  const rows = new Map<string, (Effective | null)[]>();
  variants.forEach((variant, column) => {
    const seen = new Map<string, number>();
    for (const effective of variant.effective) {
      const { setting } = effective;
      const count = seen.get(setting) ?? 0;
      seen.set(setting, count + 1);
      const key = JSON.stringify([setting, count]);
      const cells = rows.get(key) ?? variants.map(() => null);
      rows.set(key, cells);
      cells[column] = effective;
    }
  });
  const settings = [...rows.values()].map(cells => ({
    setting: cells.find(cell => cell !== null)!.setting,
    cells,
    differs: cells.some(cell => cell?.differs)
  }));
  return [
    ...settings.filter(({ differs }) => differs),
    ...settings.filter(({ differs }) => !differs)
  ];
}

/**
 * torch's settings in force that differ from the defaults, in all variants side
 * by side; null is the default.
 */
export interface IConfigRow {
  readonly name: string;
  readonly values: readonly (string | null)[];
}

/**
 * The configuration of some variants that differs from torch's defaults, by
 * name.
 */
export function configOf(variants: readonly VariantReport[]): IConfigRow[] {
  const names = new Set(variants.flatMap(({ config }) => Object.keys(config)));
  return [...names].sort().map(name => ({
    name,
    values: variants.map(({ config }) => config[name] ?? null)
  }));
}
