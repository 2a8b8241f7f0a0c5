/** Statistics of a few repeated runs. All pure. */

export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Largest less smallest. */
export function range(values: readonly number[]): number {
  return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values);
}

/** No value of one group lies among the other's: every one of `a` is below, or every one is above. */
export function apart(a: readonly number[], b: readonly number[]): boolean {
  return Math.max(...a) < Math.min(...b) || Math.min(...a) > Math.max(...b);
}

/** Student's t, two-sided 99 %, by degrees of freedom from 1 (NIST/SEMATECH e-Handbook, 1.3.6.7.2). */
const T99 = [
  63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.25, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947,
  2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.75,
];

/** The 99 % confidence interval of the mean; null for a single value, about whose scatter nothing is known. */
export function interval99(values: readonly number[]): readonly [number, number] | null {
  const n = values.length;
  if (n < 2) return null;
  const centre = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (n - 1);
  const half = T99[Math.min(n - 1, T99.length) - 1]! * Math.sqrt(variance / n);
  return [centre - half, centre + half];
}
