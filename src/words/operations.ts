const STEPS: readonly (readonly [number, string])[] = [
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k']
];

/**
 * A number of arithmetic operations: `2.10 G`.
 */
export function formatOperations(operations: number): string {
  const step = STEPS.find(([factor]) => operations >= factor);
  return step
    ? `${digits(operations / step[0])} ${step[1]}`
    : `${Number.isInteger(operations) ? operations : digits(operations)}`;
}

/**
 * Operations for each byte that is read or written: `0.25`.
 */
export function formatIntensity(intensity: number): string {
  return digits(intensity);
}

function digits(value: number): string {
  return value >= 100 || value === 0
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value.toFixed(2);
}
