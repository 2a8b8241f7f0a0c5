import type { ConfigFile } from "./config.ts";
import type { Facts } from "./facts/facts.ts";

/** error: grows without bound or breaks the run. warning: wastes measurably. note: untuned. */
export type Severity = "error" | "warning" | "note";
export type FixGrade = "safe" | "unsafe" | "none";

/** Replaces text[start, end) of the file. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Fix {
  readonly grade: "safe" | "unsafe";
  /** Imperative, for menus: "Detach the loss". */
  readonly title: string;
  readonly edits: readonly Edit[];
  /** Import lines the new text needs; each is added once, if the file does not have it. */
  readonly imports?: readonly string[];
}

export interface Finding {
  /** What is underlined: usually the smallest expression that is wrong. */
  readonly at: { readonly start: number; readonly end: number };
  /** What happens here and what it costs, in one sentence without a final period. */
  readonly message: string;
  /** Where it differs from the rule's own. */
  readonly severity?: Severity;
  readonly fix?: Fix;
}

export interface RuleMeta {
  /** PLM and three digits: the catalogue number of the first pattern it covers. */
  readonly code: string;
  /** Kebab-case, as in the file's name. */
  readonly name: string;
  /** One line for lists. */
  readonly summary: string;
  readonly severity: Severity;
  /** The best grade of fix it may offer. */
  readonly fix: FixGrade;
  /** Numbers of the catalogue it covers. */
  readonly patterns: readonly number[];
  /** Finds only what runs in a training step: not asked about Python files that no step runs through. */
  readonly hotOnly?: true;
  /** Finds only what trains or evaluates: not asked about files of nothing but networks. */
  readonly inTraining?: true;
  /** What it finds costs only on a device: its file has to speak of one, or its program to use one, for more than a note. */
  readonly onDevice?: "file" | "program";
}

/** One file a rule: `src/audit/rules/plmNNN-name.ts` exports `const rule: Rule`. */
export interface Rule {
  readonly meta: RuleMeta;
  /** Python files and notebooks. */
  readonly check?: (facts: Facts) => Iterable<Finding>;
  /** YAML, JSON and TOML files that configure training. */
  readonly checkConfig?: (config: ConfigFile) => Iterable<Finding>;
}
