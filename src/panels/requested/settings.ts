import type { Effective, VariantReport } from '../../protocol/types';

/**
 * A setting under the variants side by side; null where a variant says nothing
 * of it.
 */
export interface ISetting {
  readonly setting: string;
  readonly cells: readonly (Effective | null)[];

  /**
   * Whether some variant did something else than was asked for.
   */
  readonly differs: boolean;
}

/**
 * All settings of some variants; those where torch did something else first,
 * otherwise in the order in which the variants list them.
 *
 * A variant may list a setting more than once (a reason each): each time is a
 * row of its own.
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
 * Settings of torch in force that differ from its defaults, under the variants
 * side by side; null is the default.
 */
export interface IConfigRow {
  readonly name: string;
  readonly values: readonly (string | null)[];
}

/**
 * All configuration of some variants that differs from torch's defaults, by
 * name.
 */
export function configOf(variants: readonly VariantReport[]): IConfigRow[] {
  const names = new Set(variants.flatMap(({ config }) => Object.keys(config)));
  return [...names].sort().map(name => ({
    name,
    values: variants.map(({ config }) => config[name] ?? null)
  }));
}
