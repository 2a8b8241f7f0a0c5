import { functionOf, statementOf } from "../python/nodes.ts";
import type { Node } from "../python/tree.ts";
import type { Facts } from "./facts/facts.ts";
import { READINGS } from "./readings.ts";
import type { Finding, RuleMeta, Severity } from "./rule.ts";

/**
 * How much has to be guessed of whether code runs in every step: it stands in the training loop; behind a test there; in a
 * function that the loop, or a network's forward, comes to; behind a test there; or in none of these.
 */
export type Where = "loop" | "loop-test" | "hot" | "hot-test" | "cold";

/** What came of errors and warnings on repositories that nobody had looked at before. */
export interface Reading {
  readonly repositories: number;
  /** The share that was true, each repository counting once: a false one rarely comes alone. */
  readonly right: number;
  /** The share that was wrong about the code: not of code that fails before it gets there, nor that an option turns on. */
  readonly wrong: number;
}

/** Of a rule, all in all and by where its findings stood. */
export interface RuleReading extends Reading {
  readonly where: Readonly<Partial<Record<Where, Reading>>>;
}

/** Nine in ten: a warning is worth acting on unseen. `npm run --silent bench:trust` prints what that comes to. */
const TRUSTED = 0.9;
/** In the training loop itself there is little to guess: a rule keeps its word until two in five were wrong there. */
const DOUBTED = 0.4;
/** Fewer repositories than this say little about the next one. */
const ENOUGH = 3;

/** A rule that hardly anybody has seen at work is trusted. */
export function isTrusted(reading: RuleReading | undefined, where: Where | null): boolean {
  const read = where === null ? undefined : reading?.where[where];
  const here = read && read.repositories >= ENOUGH ? read : undefined;
  if (where === "loop") return !here || here.wrong <= DOUBTED;
  const known = here ?? reading;
  return !known || known.repositories < ENOUGH || known.right >= TRUSTED;
}

/**
 * A rule that strangers' code has not borne out, where it finds something, says what it thinks in notes: what it must guess,
 * how often code runs or what a value is, it guesses too often.
 */
export function earned(meta: RuleMeta, finding: Finding, facts: Facts): Severity {
  const severity = finding.severity ?? meta.severity;
  if (severity === "note") return severity;
  return isTrusted(READINGS[meta.code], whereIs(finding.at, facts)) ? severity : "note";
}

/** Null for what is no node of the tree. */
export function whereIs(at: Finding["at"], facts: Facts): Where | null {
  const node = "parent" in at ? (statementOf(at as Node) ?? (at as Node)) : null;
  if (!node) return null;
  const loop = facts.stepLoop(node);
  const hot = loop !== null || facts.functionFacts(node).hot !== null;
  if (!hot) return "cold";
  const isTested = isBehindTest(node, loop ?? functionOf(node));
  if (loop) return isTested ? "loop-test" : "loop";
  return isTested ? "hot-test" : "hot";
}

function isBehindTest(node: Node, stop: Node | null): boolean {
  for (let above = node.parent; above && above !== stop; above = above.parent)
    if (above.kind === "If" || above.kind === "Try") return true;
  return false;
}
