import type { Step, Values, Weight } from "./readings.ts";
import type { Distance, Results } from "./result.ts";

/**
 * How many times the yardstick two programs may differ and still compute the same. The yardstick is one rounding of
 * each weight; a program rounds several times in each layer, and two programs do so independently of each other. On a
 * GPU in bf16, fused against plain Adam, two micro-batches against one and PyTorch's attention against the one written
 * out came to 1, 3 and 8 times the yardstick.
 */
export const MARGIN = 16;
/** A yardstick of one run passes zero now and then: each step is judged by the largest up to a few steps later. */
const AHEAD = 5;
/** Sums over many elements (losses, norms) are exact to about the last digit of fp32, whatever was summed. */
const FINE = 2 ** -23;
/** A loss that has all but vanished is compared on the scale of what it was. */
const VANISHED = 1e-6;

export interface Samples {
  /** Runs of the same code, the first compared with the first. */
  readonly before: readonly Values[];
  readonly after: readonly Values[];
  /** Runs of before whose weights were moved by one rounding behind the first step. */
  readonly nudged: readonly Values[];
}

export function identical(a: Values, b: Values): boolean {
  return (
    a.steps.length === b.steps.length &&
    a.steps.every(
      (step, at) => Object.is(step.loss, b.steps[at]!.loss) && Object.is(step.norm, b.steps[at]!.norm),
    ) &&
    a.weights.length === b.weights.length &&
    a.weights.every((weight, at) => weight.digest === b.weights[at]!.digest)
  );
}

/** Do the two compute the same? Judged by rounding, and where runs of the same code differ, by those. */
export function compareResults(samples: Samples): Results {
  const { before, after } = samples;
  const [first, second] = [before[0]!, after[0]!];
  const again = before[1];
  const base = {
    dtype: first.roundoff >= second.roundoff ? first.dtype : second.dtype,
    roundoff: Math.max(first.roundoff, second.roundoff),
    deterministic: again ? identical(first, again) : null,
    losses: null,
    gradientNorms: null,
    weights: null,
  };
  const failed = first.failed ?? second.failed;
  if (failed) return { ...base, verdict: "unknown", why: `values could not be read: ${failed}` };
  if (first.steps.length !== second.steps.length)
    return {
      ...base,
      verdict: again && again.steps.length !== first.steps.length ? "unknown" : "different",
      why: `before took ${first.steps.length} steps, after ${second.steps.length}`,
    };
  // A loss kept in half precision moves in steps of its own.
  const grain = 2 * Math.max(first.lossRoundoff, second.lossRoundoff);
  const losses = seriesDistance(samples, (step) => step.loss, grain);
  const gradientNorms = seriesDistance(samples, (step) => step.norm, 0);
  const weights = weightDistance(samples);
  const found = { ...base, losses, gradientNorms, weights };
  const all = [losses, gradientNorms, weights].filter((distance) => distance !== null);
  if (all.length === 0)
    return { ...found, verdict: "unknown", why: "no scalar loss and no gradients were seen" };
  if (identical(first, second))
    return {
      ...found,
      verdict: "bit-identical",
      why: "every loss, gradient norm and final weight, to the bit",
    };
  const beyond =
    beyondText(losses, "losses", "from step ") ?? beyondText(gradientNorms, "gradient norms", "from step ");
  const why = beyond ?? beyondText(weights, "final weights", "most in ");
  if (why !== null) return { ...found, verdict: "different", why };
  const rounding = all.every(
    ({ between, nudged }) => between <= MARGIN * Math.max(FINE, nudged ?? 0) + grain,
  );
  return rounding
    ? {
        ...found,
        verdict: "same within rounding",
        why: `no farther apart than the rounding of ${base.dtype} makes them`,
      }
    : { ...found, verdict: "same within spread", why: "runs of the same code differ as much" };
}

function beyondText(distance: Distance | null, what: string, where: string): string | null {
  if (distance?.beyond == null) return null;
  const [by, tolerance] = [distance.between, distance.tolerance!].map((value) => value.toExponential(1));
  return `${what} differ, ${where}${distance.beyond}: by up to ${by}, tolerance ${tolerance}`;
}

function seriesDistance(
  samples: Samples,
  pick: (step: Step) => number | null,
  grain: number,
): Distance | null {
  const series = (runs: readonly Values[]): (number | null)[][] => runs.map((run) => run.steps.map(pick));
  const [before, after, nudged] = [series(samples.before), series(samples.after), series(samples.nudged)];
  const reference = before[0]!;
  if (reference.every((value) => value === null)) return null;
  const largest = Math.max(0, ...reference.map((value) => Math.abs(value ?? 0)).filter(Number.isFinite));
  const apart = (a: readonly (number | null)[], b: readonly (number | null)[], at: number): number =>
    relative(a[at] ?? null, b[at] ?? null, Math.max(Math.abs(reference[at] ?? 0), VANISHED * largest));
  const over = (pairs: readonly (readonly [(number | null)[], (number | null)[]])[], at: number): number[] =>
    pairs.map(([a, b]) => apart(a, b, at));
  const cross = before.flatMap((a) => after.map((b) => [a, b] as const));
  const same = [...pairsOf(before), ...pairsOf(after)];
  const moved = nudged.map((run) => [reference, run] as const);
  const steps = reference.map((_, at) => ({
    between: Math.min(...over(cross, at)),
    same: Math.max(0, ...over(same, at)),
    nudged: Math.max(0, ...over(moved, at)),
  }));
  const fine = Math.min(FINE, 2 * samples.before[0]!.roundoff);
  const tolerances = steps.map((_, at) => {
    const seen = steps.slice(0, at + 1 + AHEAD);
    return MARGIN * Math.max(fine, ...seen.map((step) => Math.max(step.same, step.nudged))) + grain;
  });
  const beyond = steps.findIndex((step, at) => step.between > tolerances[at]!);
  const shown = beyond >= 0 ? beyond : highest(steps.map((step, at) => step.between / tolerances[at]!));
  return {
    compared: steps.length,
    identical: reference.filter((value, at) => Object.is(value, after[0]![at])).length,
    between: Math.max(...steps.map((step) => step.between)),
    same: same.length > 0 ? Math.max(...steps.map((step) => step.same)) : null,
    nudged: nudged.length > 0 ? Math.max(...steps.map((step) => step.nudged)) : null,
    tolerance: nudged.length > 0 || same.length > 0 ? tolerances[shown]! : null,
    beyond: beyond >= 0 ? String(beyond + 1) : null,
  };
}

/** Null where the two sides do not train the same parameters: then there is nothing to subtract. */
function weightDistance(samples: Samples): Distance | null {
  const [first, second] = [samples.before[0]!, samples.after[0]!];
  const matched = match(first.weights, second.weights);
  if (!matched || matched.length === 0) return null;
  const size = Math.hypot(...first.weights.map((weight) => weight.norm));
  const between = (a: Values, b: Values): number => {
    const pairs = match(a.weights, b.weights);
    return pairs ? Math.hypot(...pairs.map(([x, y]) => estimated(x, y))) / (size || 1) : Infinity;
  };
  const all = (pairs: readonly (readonly [Values, Values])[]): number[] =>
    pairs.map(([a, b]) => between(a, b));
  const cross = Math.min(...all(samples.before.flatMap((a) => samples.after.map((b) => [a, b] as const))));
  const same = all([...pairsOf(samples.before), ...pairsOf(samples.after)]);
  const nudged = all(samples.nudged.map((run) => [first, run] as const));
  const tolerance = MARGIN * Math.max(first.roundoff, second.roundoff, ...same, ...nudged);
  const judged = same.length > 0 || nudged.length > 0;
  return {
    compared: matched.length,
    identical: matched.filter(([a, b]) => a.digest === b.digest).length,
    between: cross,
    same: same.length > 0 ? Math.max(...same) : null,
    nudged: nudged.length > 0 ? Math.max(...nudged) : null,
    tolerance: judged ? tolerance : null,
    beyond: cross > tolerance ? farthest(matched) : null,
  };
}

/** By name where every parameter has one, else in the optimizer's order. */
function match(a: readonly Weight[], b: readonly Weight[]): (readonly [Weight, Weight])[] | null {
  if (a.length !== b.length) return null;
  const named = new Map(b.map((weight) => [weight.name, weight]));
  const byName = named.size === b.length && a.every(({ name }) => name !== null && named.has(name));
  const pairs = a.map((weight, at) => [weight, byName ? named.get(weight.name)! : b[at]!] as const);
  return pairs.every(([x, y]) => x.shape.join() === y.shape.join()) ? pairs : null;
}

/** The distance of two tensors, from their projections. */
function estimated(a: Weight, b: Weight): number {
  if (a.digest === b.digest) return 0;
  const squares = a.sums.map((sum, at) => (sum - b.sums[at]!) ** 2);
  const distance = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
  return Number.isNaN(distance) ? Infinity : distance;
}

function farthest(pairs: readonly (readonly [Weight, Weight])[]): string {
  const at = highest(pairs.map(([a, b]) => estimated(a, b)));
  return pairs[at]![0].name ?? `parameter ${at}`;
}

function relative(a: number | null, b: number | null, scale: number): number {
  if (Object.is(a, b)) return 0;
  if (a === null || b === null || !Number.isFinite(a) || !Number.isFinite(b)) return Infinity;
  return a === b ? 0 : Math.abs(a - b) / scale;
}

function pairsOf<T>(runs: readonly T[]): (readonly [T, T])[] {
  return runs.flatMap((a, at) => runs.slice(at + 1).map((b) => [a, b] as const));
}

function highest(values: readonly number[]): number {
  return values.reduce((best, value, at) => (value > values[best]! ? at : best), 0);
}
