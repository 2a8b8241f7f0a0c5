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

/** Of the shares tried, the one that tells best: `npm run --silent bench:trust` prints what it comes to. */
export const TRUSTED = 0.85;

/**
 * A rule that strangers' code has not borne out says what it thinks in notes: what it must guess, how often code runs or
 * what a value is, it guesses too often. Where its finding stands in a training loop, with no test in between, it keeps
 * its word: there is nothing to guess. A rule that nobody has seen at work is trusted.
 */
export function earned(meta: RuleMeta, finding: Finding, facts: Facts): Severity {
  const severity = finding.severity ?? meta.severity;
  if (severity === "note") return severity;
  const reading = READINGS[meta.code];
  return !reading || reading.right >= TRUSTED || isInPlainSight(finding.at, facts) ? severity : "note";
}

function isInPlainSight(at: Finding["at"], facts: Facts): boolean {
  if (!("parent" in at)) return false;
  const node = at as Node;
  const loop = facts.stepLoop(node);
  for (let above = node.parent; loop && above && above !== loop; above = above.parent)
    if (above.kind === "If" || above.kind === "IfExp" || above.kind === "Try") return false;
  return loop !== null;
}
