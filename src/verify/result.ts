import type { Bytes } from "../base/units.ts";

/** The result of a comparison, as `--json` prints it. */
export interface Verification {
  readonly version: 1;
  readonly passed: boolean;
  readonly seed: number;
  readonly repeats: number;
  readonly sides: { readonly before: Side; readonly after: Side };
  readonly results: Results;
  readonly speed: Speed;
  readonly memory: readonly Quantity[];
  readonly warnings: { readonly new: readonly string[]; readonly gone: readonly string[] };
  readonly metrics: readonly Quantity[];
  readonly gates: readonly Gate[];
  /** What the reader must know to trust the rest. */
  readonly notes: readonly string[];
  readonly curves: Curves;
}

export interface Side {
  /** As given: a revision, a folder, ".". */
  readonly source: string;
  /** The commit, where the source is a revision. */
  readonly commit: string | null;
  readonly command: string;
  readonly steps: number;
}

export type Sameness =
  | "bit-identical"
  | "same within rounding"
  | "same within spread"
  | "different"
  | "unknown";

export interface Results {
  readonly verdict: Sameness;
  readonly why: string;
  /** The coarsest number format the training computes in, and the largest relative error of one rounding in it. */
  readonly dtype: string | null;
  readonly roundoff: number | null;
  /** Whether two runs of the same code were bit-identical; null when they were not needed. */
  readonly deterministic: boolean | null;
  readonly losses: Distance | null;
  readonly gradientNorms: Distance | null;
  readonly weights: Distance | null;
}

/** How far the two sides are apart, all relative; `tolerance` is of the step where `between` came closest to or over it. */
export interface Distance {
  readonly compared: number;
  readonly identical: number;
  /** The largest difference of before and after. */
  readonly between: number;
  /** The largest difference of two runs of the same code; null when those were not needed. */
  readonly same: number | null;
  /** The largest difference one rounding of every weight made; null when not needed. */
  readonly nudged: number | null;
  readonly tolerance: number | null;
  /** The first step (from 1) or the parameter beyond its tolerance. */
  readonly beyond: string | null;
}

export type Direction = "no difference" | "less" | "more" | "unknown";

/** A number measured on both sides, several times: medians, and what may be said of them. */
export interface Quantity {
  readonly name: string;
  readonly unit: "bytes" | "number";
  readonly before: number | null;
  readonly after: number | null;
  /** after / before − 1; null when before is 0. */
  readonly change: number | null;
  /** The largest difference between runs of the same side. */
  readonly spread: number | null;
  readonly verdict: Direction;
}

export interface Speed {
  readonly verdict: "no difference" | "faster" | "slower" | "unclear" | "unknown";
  readonly why: string;
  readonly stepsPerSecond: { readonly before: number | null; readonly after: number | null };
  /** The time of an ordinary step, after / before − 1. */
  readonly change: number | null;
  /** Of the change, at 99 % confidence. */
  readonly interval: readonly [number, number] | null;
  /** The same of all steps together, each at its fastest: differs where only some steps got slower or faster. */
  readonly changeOfAllSteps: number | null;
  /** The largest ratio between runs of the same side, − 1. */
  readonly spread: number | null;
  readonly pairs: number;
  readonly stepsTimed: number;
  readonly warmUp: number;
}

export interface Gate {
  readonly name: "same-results" | "max-memory-increase" | "max-slowdown";
  readonly limit: string;
  readonly passed: boolean;
  readonly why: string;
}

/** For the pictures: one value a step. */
export interface Curves {
  readonly loss: { readonly before: readonly (number | null)[]; readonly after: readonly (number | null)[] };
  readonly memory: {
    readonly what: string;
    readonly before: readonly Bytes[];
    readonly after: readonly Bytes[];
  };
}
