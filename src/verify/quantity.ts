import { apart, median, range } from "./numbers.ts";
import type { Quantity } from "./result.ts";

/** A difference counts when it is this many times what repeats of the same side differ by. */
const TIMES_THE_SPREAD = 3;

export interface Least {
  /** Differences below this share of the larger side are not claimed. */
  readonly share: number;
  readonly amount: number;
}

/** Compares a number measured on each side, several times. */
export function compareQuantity(
  name: string,
  unit: Quantity["unit"],
  before: readonly number[],
  after: readonly number[],
  least: Least,
): Quantity {
  if (before.length === 0 || after.length === 0)
    return {
      name,
      unit,
      before: before.length > 0 ? median(before) : null,
      after: after.length > 0 ? median(after) : null,
      change: null,
      spread: null,
      verdict: "unknown",
    };
  const [a, b] = [median(before), median(after)];
  const spread = Math.max(range(before), range(after));
  const difference = Math.abs(b - a);
  const floor = Math.max(least.amount, least.share * Math.max(Math.abs(a), Math.abs(b)));
  const real =
    difference > 0 && difference >= floor && difference > TIMES_THE_SPREAD * spread && apart(before, after);
  return {
    name,
    unit,
    before: a,
    after: b,
    change: a === 0 ? null : b / a - 1,
    spread,
    verdict: !real ? "no difference" : b < a ? "less" : "more",
  };
}
