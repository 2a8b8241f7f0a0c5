import type { Node } from "../python/tree.ts";
import type { Facts } from "./facts/facts.ts";
import { READINGS } from "./readings.ts";
import type { Finding, RuleMeta, Severity } from "./rule.ts";

/** What came of a rule's errors and warnings on repositories that nobody had looked at before. */
export interface Reading {
  readonly repositories: number;
  /** The share that was true, each repository counting once: a false one rarely comes alone. */
  readonly right: number;
}

/** Two in three; `npm run --silent bench:trust` prints what that comes to. */
const TRUSTED = 0.66;
/** Fewer repositories than this say little about the next one. */
const ENOUGH = 3;

export const isTrusted = (reading: Reading | undefined): boolean =>
  !reading || reading.repositories < ENOUGH || reading.right >= TRUSTED;

/**
 * A rule that strangers' code has not borne out says what it thinks in notes: what it must guess, how often code runs or
 * what a value is, it guesses too often. Where its finding stands in a training loop, with no test in between, it keeps
 * its word: there is nothing to guess. A rule that hardly anybody has seen at work is trusted.
 */
export function earned(meta: RuleMeta, finding: Finding, facts: Facts): Severity {
  const severity = finding.severity ?? meta.severity;
  if (severity === "note") return severity;
  return isTrusted(READINGS[meta.code]) || isInPlainSight(finding.at, facts) ? severity : "note";
}

function isInPlainSight(at: Finding["at"], facts: Facts): boolean {
  if (!("parent" in at)) return false;
  const node = at as Node;
  const loop = facts.stepLoop(node);
  if (!loop) return false;
  for (let above = node.parent; above && above !== loop; above = above.parent)
    if (above.kind === "If" || above.kind === "IfExp" || above.kind === "Try") return false;
  return true;
}
