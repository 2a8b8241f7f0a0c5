import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reading, RuleReading, Where } from "../../src/audit/trust.ts";

/** A finding on public code that was read by hand. */
export interface Label {
  /** Of reading, each on repositories that none before had used (docs/audit-accuracy.md); those before 28 have none. */
  readonly round?: number;
  readonly repository: string;
  readonly commit: string;
  readonly path: string;
  readonly line: number;
  /** Of a notebook: the line is then counted in the cell. */
  readonly cell?: number;
  readonly rule: string;
  readonly severity: "error" | "warning" | "note";
  readonly excerpt: string;
  /**
   * "elsewhere": there, and it costs, but not in the training by default; before round 38 readers called that false.
   * "broken": right about the code, which as shipped fails before it gets there; before round 64 that was called false, too.
   */
  readonly verdict: "true" | "elsewhere" | "broken" | "false";
  readonly why: string;
  /** A false alarm that is not raised any more, or not at that severity. */
  readonly mended?: true;
  /** Of a repository that no rule was tuned on. */
  readonly heldOut?: true;
  /** Where in a training it stood, for those whose tree was at hand; "off": it does not run as the code is shipped. */
  readonly where?: Where | "off";
}

/** A file a rule. */
const FOLDER = join(import.meta.dirname, "../fixtures/audit/labels");

const path = (name: string): string => join(FOLDER, name);

function readFile(name: string): Label[] {
  return readFileSync(path(name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Label);
}

export function readLabels(): Label[] {
  return readdirSync(FOLDER).sort().flatMap(readFile);
}

export function rewriteLabels(change: (label: Label) => Label): void {
  for (const name of readdirSync(FOLDER))
    writeFileSync(
      path(name),
      readFile(name)
        .map((label) => `${JSON.stringify(change(label))}\n`)
        .join(""),
    );
}

export function keyOf(at: Pick<Label, "repository" | "path" | "line" | "cell" | "rule">): string {
  return [at.repository, at.path, at.cell ?? "", at.line, at.rule].join("\0");
}

/** By rule, and by where it stood. What does not run is a note whatever comes of the rule. */
export function readings(labels: readonly Label[]): Record<string, RuleReading> {
  const byRule = groups(
    labels.filter(({ where }) => where !== "off"),
    ({ rule }) => rule,
  );
  return Object.fromEntries(
    Object.entries(byRule).map(([rule, own]) => {
      const { "": _, ...placed } = groups(own, ({ where = "" }) => where);
      const where = Object.fromEntries(Object.entries(placed).map(([at, read]) => [at, reading(read)]));
      return [rule, { ...reading(own), where }];
    }),
  );
}

/** The shares of true and of false ones among these, the means over repositories. */
function reading(labels: readonly Label[]): Reading {
  const repositories = Object.values(groups(labels, ({ repository }) => repository));
  const share = (wanted: Label["verdict"]): number => {
    const shares = repositories.map(
      (own) => own.filter(({ verdict }) => verdict === wanted).length / own.length,
    );
    return Math.round((100 * shares.reduce((sum, one) => sum + one, 0)) / shares.length) / 100;
  };
  return { repositories: repositories.length, right: share("true"), wrong: share("false") };
}

function groups(labels: readonly Label[], key: (label: Label) => string): Record<string, Label[]> {
  const found: Record<string, Label[]> = {};
  for (const label of labels) (found[key(label)] ??= []).push(label);
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}
