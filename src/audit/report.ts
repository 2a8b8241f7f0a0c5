import type { FixGrade, Severity } from "./rule.ts";

/** A place as people count: lines and columns from 1, columns in UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export interface ReportedEdit extends Place {
  /** Offsets in the file's decoded text (for notebooks, in the joined text of the code cells). */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface ReportedFix {
  readonly grade: Exclude<FixGrade, "none">;
  readonly title: string;
  readonly edits: readonly ReportedEdit[];
}

export interface ReportedFinding extends Place {
  readonly rule: string;
  readonly name: string;
  readonly severity: Severity;
  readonly path: string;
  readonly message: string;
  /** Whether it rests on a guess; the message says so, too. */
  readonly likely: boolean;
  readonly fix: ReportedFix | null;
  /** Notebooks only: the cell, from 1, counting all cells; lines then count from the cell's first. */
  readonly cell?: number;
  /** The same while the code around it is the same, wherever it moves in the file. */
  readonly fingerprint: string;
  /** The same whatever the file is called. */
  readonly anchor: string;
  /** The lines it stands on and their neighbours, for code frames. */
  readonly frame: readonly { readonly line: number; readonly text: string }[];
}

/** Something about a file that is no finding: it could not be read, parsed or mended. */
export interface Diagnostic {
  readonly path: string;
  /** Null for the whole file; of a notebook, whose lines are those of its JSON, the message says which cell it is. */
  readonly line: number | null;
  /** Notebooks only: the cell, from 1, and the line in it. */
  readonly inCell?: { readonly cell: number; readonly line: number };
  readonly message: string;
  /** "error": nothing of the file was audited. "warning": a part of it. */
  readonly level: "error" | "warning";
}

export interface AuditReport {
  readonly files: number;
  readonly bytes: number;
  /** Files that say they are generated: read for what others need to know, not judged. */
  readonly generated: number;
  readonly findings: readonly ReportedFinding[];
  readonly diagnostics: readonly Diagnostic[];
  /** Files rewritten by --fix, and how many fixes went in. */
  readonly fixed: readonly { readonly path: string; readonly fixes: number }[];
  /** Unified diff, with --diff: each file's lines in its own encoding. */
  readonly diff: Uint8Array | null;
}
