import { interval99, mean, median, quantile } from "./numbers.ts";
import type { Speed } from "./result.ts";

/** A smaller difference is never claimed: code alignment and page placement alone move a program by this much. */
const LEAST_CHANGE = 0.02;
/** With two pairs Student's t is so wide that nothing could be claimed; with fewer there is no interval. */
const LEAST_PAIRS = 3;
/** A difference counts when it is this many times what runs of the same side differ by. */
const TIMES_THE_SPREAD = 1.5;
/** Of a run's steps, the share that is taken for undisturbed by whatever else the machine did. */
const UNDISTURBED = 0.25;
/** An interval that reaches farther than this says that nothing can be said. */
const TOO_WIDE = 0.1;

type Run = readonly number[];

/**
 * Compares the step times of runs made in pairs: run i of before and run i of after were neighbours in time.
 *
 * Every step is taken relative to its median over all runs of both sides, so that longer batches and evaluations do not
 * count as noise; a run is then as slow as the lower quartile of its steps, because others on the machine only ever add
 * time. The interval is Student's on the logarithms of the pairs' ratios. A difference is claimed when the interval
 * leaves 0 out, the difference is 2 % or more, and 1.5 times what runs of the same side differ by. On simulated noise
 * (test/verify) that is wrong less than once in 200 comparisons with three pairs, and less often with more.
 */
export function compareSpeed(before: readonly Run[], after: readonly Run[]): Speed {
  const pairs = Math.min(before.length, after.length);
  const steps = Math.min(...[...before, ...after].map((run) => run.length));
  const nothing: Speed = {
    verdict: "unknown",
    why: "fewer than two timed steps",
    stepsPerSecond: { before: null, after: null },
    change: null,
    interval: null,
    changeOfAllSteps: null,
    spread: null,
    pairs,
    stepsTimed: 0,
    warmUp: 0,
  };
  if (pairs === 0 || !Number.isFinite(steps) || steps < 2) return nothing;
  const warmUp = warmUpOf(steps);
  const late = (runs: readonly Run[]): Run[] => runs.map((run) => run.slice(warmUp, steps));
  const [a, b] = [late(before), late(after)];
  const usual = a[0]!.map((_, step) => median([...a, ...b].map((run) => run[step]!)));
  const slowness = (runs: readonly Run[]): number[] =>
    runs.map((run) =>
      quantile(
        run.map((seconds, step) => seconds / usual[step]!),
        UNDISTURBED,
      ),
    );
  const [slowA, slowB] = [slowness(a), slowness(b)];
  const ratios = Array.from({ length: pairs }, (_, pair) => Math.log(slowB[pair]! / slowA[pair]!));
  const centre = mean(ratios);
  const interval = interval99(ratios);
  const spread = Math.max(logRange(slowA), logRange(slowB));
  const found = {
    ...nothing,
    stepsPerSecond: {
      before: 1 / (median(slowA) * mean(usual)),
      after: 1 / (median(slowB) * mean(usual)),
    },
    change: Math.expm1(centre),
    interval: interval && ([Math.expm1(interval[0]), Math.expm1(interval[1])] as const),
    changeOfAllSteps: fastest(b) / fastest(a) - 1,
    spread: Math.expm1(spread),
    stepsTimed: steps - warmUp,
    warmUp,
  };
  if (pairs < LEAST_PAIRS || !interval)
    return {
      ...found,
      why: `${pairs} ${pairs === 1 ? "pair" : "pairs"} of runs: a difference needs ${LEAST_PAIRS} or more`,
    };
  const doubt = doubtIn(centre, interval, spread);
  if (doubt === null)
    return { ...found, verdict: centre < 0 ? "faster" : "slower", why: `in ${pairs} pairs of runs` };
  return Math.max(-interval[0], interval[1]) > Math.log1p(TOO_WIDE)
    ? {
        ...found,
        verdict: "unclear",
        why: `${doubt}: more --repeats, more steps or a quieter machine would tell`,
      }
    : { ...found, verdict: "no difference", why: doubt };
}

/** Why no difference may be claimed; null when it may. */
function doubtIn(centre: number, interval: readonly [number, number], spread: number): string | null {
  if (interval[0] <= 0 && interval[1] >= 0) return "the interval holds 0";
  if (Math.abs(centre) < Math.log1p(LEAST_CHANGE)) return `less than ${LEAST_CHANGE * 100} %`;
  return Math.abs(centre) < TIMES_THE_SPREAD * spread ? "runs of the same code differ about as much" : null;
}

/** Lazy state, autotuning and caches: the first tenth, three steps at least, never more than half. */
function warmUpOf(steps: number): number {
  return Math.min(Math.max(3, Math.ceil(steps / 10)), Math.floor(steps / 2));
}

/** All steps together, each as fast as it ever was: single slow steps count when they are slow in every run. */
function fastest(runs: readonly Run[]): number {
  return mean(runs[0]!.map((_, step) => Math.min(...runs.map((run) => run[step]!))));
}

function logRange(values: readonly number[]): number {
  return Math.log(Math.max(...values) / Math.min(...values));
}
