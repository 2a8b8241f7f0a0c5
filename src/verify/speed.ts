import { apart, interval99, mean, median, quantile } from "./numbers.ts";
import type { Speed } from "./result.ts";

/** A smaller difference is never claimed: code alignment and page placement alone move a program by this much. */
const LEAST_CHANGE = 0.02;
/** With two pairs Student's t is so wide that nothing could be claimed; with fewer there is no interval. */
const LEAST_PAIRS = 3;
/** Of a run's steps, the share that is taken for undisturbed by whatever else the machine did. */
const UNDISTURBED = 0.25;
/** An interval that reaches farther than this says that nothing can be said. */
const TOO_WIDE = 0.1;

/**
 * Compares the step times of runs made in pairs: run i of before and run i of after were neighbours in time.
 *
 * A step's usual time is its median over the repeats of its side, so that steps that do more (an evaluation, a longer
 * batch) count in full. A run is as much faster or slower than usual as the lower quartile of its steps is: others on
 * the machine only ever add time. The interval is Student's on the logarithms of the pairs' ratios. A difference is
 * claimed when the interval leaves 1 out, the difference is 2 % or more, and every run of the one side was faster than
 * every run of the other.
 */
export function compareSpeed(
  before: readonly (readonly number[])[],
  after: readonly (readonly number[])[],
): Speed {
  const pairs = Math.min(before.length, after.length);
  const steps = Math.min(...[...before, ...after].map((run) => run.length));
  const nothing: Speed = {
    verdict: "unknown",
    why: "fewer than two timed steps",
    stepsPerSecond: { before: null, after: null },
    change: null,
    interval: null,
    spread: null,
    pairs,
    stepsTimed: 0,
    warmUp: 0,
  };
  if (pairs === 0 || !Number.isFinite(steps) || steps < 2) return nothing;
  const warmUp = warmUpOf(steps);
  const a = runTimes(before, warmUp);
  const b = runTimes(after, warmUp);
  const ratios = Array.from({ length: pairs }, (_, pair) => Math.log(b[pair]! / a[pair]!));
  const centre = mean(ratios);
  const interval = interval99(ratios);
  const spread = Math.max(Math.max(...a) / Math.min(...a), Math.max(...b) / Math.min(...b)) - 1;
  const found = {
    ...nothing,
    stepsPerSecond: { before: 1 / median(a), after: 1 / median(b) },
    change: Math.exp(centre) - 1,
    interval: interval && ([Math.exp(interval[0]) - 1, Math.exp(interval[1]) - 1] as const),
    spread,
    stepsTimed: steps - warmUp,
    warmUp,
  };
  if (pairs < LEAST_PAIRS || !interval)
    return {
      ...found,
      why: `${pairs} ${pairs === 1 ? "pair" : "pairs"} of runs: a difference needs ${LEAST_PAIRS} or more`,
    };
  const doubt = doubtIn(centre, interval, a, b);
  if (doubt === null)
    return {
      ...found,
      verdict: centre < 0 ? "faster" : "slower",
      why: `in every one of ${pairs} pairs of runs`,
    };
  const wide = Math.max(-interval[0], interval[1]) > Math.log1p(TOO_WIDE);
  return wide
    ? { ...found, verdict: "unclear", why: `${doubt}, and it is wide: more --repeats narrow it` }
    : { ...found, verdict: "no difference", why: doubt };
}

/** Why no difference may be claimed; null when it may. */
function doubtIn(
  centre: number,
  interval: readonly [number, number],
  before: readonly number[],
  after: readonly number[],
): string | null {
  if (interval[0] <= 0 && interval[1] >= 0) return "the interval holds 0";
  if (Math.abs(centre) < Math.log1p(LEAST_CHANGE)) return `less than ${LEAST_CHANGE * 100} %`;
  if (!apart(before, after)) return "runs of the same code differ as much";
  return null;
}

/** Lazy state, autotuning and caches: the first tenth, three steps at least, never more than half. */
function warmUpOf(steps: number): number {
  return Math.min(Math.max(3, Math.ceil(steps / 10)), Math.floor(steps / 2));
}

/** The time of a step of each run of one side, averaged over its steps. */
function runTimes(runs: readonly (readonly number[])[], warmUp: number): number[] {
  const late = runs.map((run) => run.slice(warmUp));
  const usual = late[0]!.map((_, step) => median(late.flatMap((run) => run[step] ?? [])));
  const whole = mean(usual);
  return late.map(
    (run) =>
      whole *
      quantile(
        run.map((seconds, step) => seconds / (usual[step] ?? seconds)),
        UNDISTURBED,
      ),
  );
}
