import type { NotebookCell } from "../python/notebook.ts";
import { Lines } from "../python/source.ts";
import { parse } from "../python/statements.ts";
import type { SyntaxDiagnostic } from "../python/tree.ts";
import { checkConfig, checkPython } from "./check.ts";
import { Facts } from "./facts/facts.ts";
import { mentionsOf, wordsIn } from "./facts/mentions.ts";
import { combine } from "./facts/project.ts";
import type { ProjectFacts } from "./facts/project.ts";
import { summarize } from "./facts/summarize.ts";
import type { FileSummary } from "./facts/summary.ts";
import type { Diagnostic, ReportedFinding } from "./report.ts";
import type { Settings } from "./settings.ts";
import { isRelevant, readSource } from "./source.ts";
import type { Source } from "./source.ts";
import { isUnitTest } from "./unit-tests.ts";

export interface Scan {
  readonly source: Source | null;
  readonly summary: FileSummary | null;
  /** By which it speaks of classes and modules. */
  readonly words: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
}

/** First look at one text: parse it and note what other files need to know. */
export function scan(path: string, text: string, inside = path): Scan {
  const source = isRelevant(path, text) ? readSource(path, text) : null;
  if (source === null)
    return { source, summary: null, words: wordsIn(text), diagnostics: faults(path, text) };
  if (typeof source === "string")
    return {
      source: null,
      summary: null,
      words: new Set(),
      diagnostics: [{ path, line: null, message: source, level: "error" }],
    };
  if (source.kind === "config") return { source, summary: null, words: wordsIn(text), diagnostics: [] };
  const { file } = source;
  const diagnostics = syntaxErrors(path, file.tree.errors, () => file.lines).map((one) =>
    source.notebook ? placed(one, source.notebook.cells) : one,
  );
  const words = mentionsOf(file);
  if (isUnitTest(file, inside)) return { source: null, summary: null, words, diagnostics };
  return { source, summary: summarize(file), words, diagnostics };
}

/** Of a text with nothing for any rule; that it is broken is worth a word all the same. */
export function faults(path: string, text: string): Diagnostic[] {
  return path.endsWith(".py") ? syntaxErrors(path, parse(text).errors, () => new Lines(text)) : [];
}

function syntaxErrors(path: string, errors: readonly SyntaxDiagnostic[], lines: () => Lines): Diagnostic[] {
  const [first, ...others] = errors;
  const more = others.length > 0 ? ` (and ${others.length} more)` : "";
  return first
    ? [{ path, line: lines().line(first.offset), message: `${first.message}${more}`, level: "warning" }]
    : [];
}

/** In the cell that the line of the joined text belongs to. */
function placed(diagnostic: Diagnostic, cells: readonly NotebookCell[]): Diagnostic {
  const at = diagnostic.line ?? 1;
  const home = cells.findLast((cell) => cell.line <= at);
  if (!home) return diagnostic;
  const inCell = { cell: home.number, line: at - home.line + 1 };
  const message = `cell ${inCell.cell}, line ${inCell.line}: ${diagnostic.message}`;
  return { ...diagnostic, line: null, inCell, message };
}

/** Second look, when the whole tree has been seen. */
export function check(source: Source, project: ProjectFacts, settings: Settings): ReportedFinding[] {
  return source.kind === "config"
    ? checkConfig(source.config, settings)
    : checkPython(new Facts(source.file, project), settings, source.notebook?.cells ?? null);
}

/** Audits texts that are already in memory: stdin, an editor's buffers, samples. */
export function auditTexts(
  texts: readonly { readonly path: string; readonly text: string }[],
  settings: Settings,
): { findings: ReportedFinding[]; diagnostics: Diagnostic[] } {
  const scans = texts.map(({ path, text }) => scan(path, text));
  const project = combine(
    scans.flatMap(({ summary }) => (summary ? [summary] : [])),
    new Set(scans.flatMap(({ words }) => [...words])),
  );
  return {
    findings: scans.flatMap(({ source }) => (source ? check(source, project, settings) : [])),
    diagnostics: scans.flatMap(({ diagnostics }) => diagnostics),
  };
}
