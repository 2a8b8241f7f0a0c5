import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Reading } from "../../src/audit/trust.ts";

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
  readonly verdict: "true" | "false";
  readonly why: string;
  /** A false alarm that is not raised any more, or not at that severity. */
  readonly mended?: true;
  /** Of a repository that no rule was tuned on. */
  readonly heldOut?: true;
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
];

export function readLabels(): Label[] {
  return FILES.flatMap((name) =>
    readFileSync(join(import.meta.dirname, "../fixtures/audit", name), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Label),
  );
}

export function keyOf(at: Pick<Label, "repository" | "path" | "line" | "cell" | "rule">): string {
  return [at.repository, at.path, at.cell ?? "", at.line, at.rule].join("\0");
}

/** By rule, the share of true ones among these, the mean over repositories. */
export function readings(labels: readonly Label[]): Record<string, Reading> {
  const result: Record<string, Reading> = {};
  for (const rule of [...new Set(labels.map((label) => label.rule))].sort()) {
    const read = labels.filter((label) => label.rule === rule);
    const repositories = [...new Set(read.map((label) => label.repository))];
    const shares = repositories.map((repository) => {
      const own = read.filter((label) => label.repository === repository);
      return own.filter(({ verdict }) => verdict === "true").length / own.length;
    });
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    result[rule] = { repositories: repositories.length, right: Math.round(mean * 100) / 100 };
  }
  return result;
}
