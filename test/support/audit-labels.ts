import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reading, RuleReading, Where } from "../../src/audit/trust.ts";

/** A finding on public code that was read by hand. */
export interface Label {
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

/**
 * The later ones are of rounds on repositories that nobody had looked at before, the unread ones a sample of what was
 * still reported on all of them and that nobody had read.
 */
const FILES = [
  "labels.jsonl",
  "labels-later.jsonl",
  "labels-newest.jsonl",
  "labels-unread.jsonl",
  "labels-21-22.jsonl",
  "labels-23-27.jsonl",
  "labels-28.jsonl",
  "labels-29.jsonl",
  "labels-30.jsonl",
  "labels-31.jsonl",
  "labels-32.jsonl",
  "labels-34.jsonl",
  "labels-35.jsonl",
  "labels-36.jsonl",
  "labels-37.jsonl",
  "labels-38.jsonl",
  "labels-39.jsonl",
  "labels-40.jsonl",
  "labels-41.jsonl",
  "labels-42.jsonl",
  "labels-43.jsonl",
  "labels-44.jsonl",
  "labels-45.jsonl",
  "labels-46.jsonl",
  "labels-47.jsonl",
  "labels-48.jsonl",
  "labels-49.jsonl",
  "labels-50.jsonl",
  "labels-51.jsonl",
  "labels-52.jsonl",
  "labels-53.jsonl",
  "labels-54.jsonl",
  "labels-55.jsonl",
  "labels-56.jsonl",
  "labels-57.jsonl",
  "labels-58.jsonl",
  "labels-59.jsonl",
  "labels-60.jsonl",
  "labels-61.jsonl",
  "labels-62.jsonl",
  "labels-63.jsonl",
  "labels-64.jsonl",
  "labels-65.jsonl",
  "labels-66.jsonl",
  "labels-67.jsonl",
  "labels-68.jsonl",
  "labels-69.jsonl",
  "labels-70.jsonl",
  "labels-71.jsonl",
  "labels-72.jsonl",
  "labels-73.jsonl",
  "labels-74.jsonl",
  "labels-75.jsonl",
  "labels-76.jsonl",
  "labels-77.jsonl",
  "labels-78.jsonl",
  "labels-79.jsonl",
  "labels-80.jsonl",
  "labels-81.jsonl",
  "labels-82.jsonl",
  "labels-83.jsonl",
  "labels-84.jsonl",
  "labels-85.jsonl",
  "labels-86.jsonl",
  "labels-87.jsonl",
  "labels-88.jsonl",
  "labels-89.jsonl",
  "labels-90.jsonl",
  "labels-91.jsonl",
  "labels-92.jsonl",
  "labels-93.jsonl",
  "labels-94.jsonl",
  "labels-95.jsonl",
  "labels-96.jsonl",
  "labels-97.jsonl",
  "labels-98.jsonl",
  "labels-99.jsonl",
  "labels-100.jsonl",
  "labels-101.jsonl",
  "labels-102.jsonl",
  "labels-103.jsonl",
  "labels-104.jsonl",
  "labels-105.jsonl",
  "labels-106.jsonl",
  "labels-107.jsonl",
];

const path = (name: string): string => join(import.meta.dirname, "../fixtures/audit", name);

function readFile(name: string): Label[] {
  return readFileSync(path(name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Label);
}

export function readLabels(): Label[] {
  return FILES.flatMap(readFile);
}

export function rewriteLabels(change: (label: Label) => Label): void {
  for (const name of FILES)
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
