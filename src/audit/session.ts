import { readNotebook } from "../python/notebook.ts";
import type { NotebookCell } from "../python/notebook.ts";
import { Lines } from "../python/source.ts";
import { parse } from "../python/statements.ts";
import type { SyntaxDiagnostic } from "../python/tree.ts";
import { checkConfig, checkPython } from "./check.ts";
import { readConfig, turnsCheckpointingOn } from "./config.ts";
import { ownFault } from "./discover.ts";
import { LeftOut, inTime } from "./engine.ts";
import { Facts } from "./facts/facts.ts";
import { CHECKPOINTED_BY, Words } from "./facts/mentions.ts";
import { combine } from "./facts/project.ts";
import type { ProjectFacts } from "./facts/project.ts";
import { summarize } from "./facts/summarize.ts";
import type { FileSummary } from "./facts/summary.ts";
import { Layout } from "./layout.ts";
import type { Diagnostic, ReportedFinding } from "./report.ts";
import type { Settings } from "./settings.ts";
import { isConfig, isRelevant, readSource } from "./source.ts";
import type { Source } from "./source.ts";
import { isTestText, isUnitTest } from "./unit-tests.ts";

export interface Scan {
  readonly source: Source | null;
  readonly summary: FileSummary | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** First look at one text: parse it and note what other files need to know, and by which words it speaks of them. */
export function scan(path: string, text: string, words: Words, layout: Layout, named = false): Scan {
  if (isRelevant(path, text)) return scanRelevant(path, text, words, layout, { inside: path, named });
  if (!isTestText(path, text)) words.addFromText(path, text);
  return { source: null, summary: null, diagnostics: faults(path, text, named) };
}

/** What a file that trains or has it done says: the bodies of its functions are read, whoever wrote them. */
const TRAINS =
  /\.(?:backward|manual_backward|step|fit|train|learn)\(|Trainer\b|\b(?:training_step|compute_loss|optimi[sz]er)\b/;

/** The same of one that is known to have something for some rule, or for those who judge other files. */
export function scanRelevant(
  path: string,
  text: string,
  words: Words,
  layout: Layout,
  { inside, named }: { readonly inside: string; readonly named: boolean },
  unjudged = false,
): Scan {
  const outline = unjudged && !TRAINS.test(text);
  const source = readSource(path, text, layout, outline);
  if (source === null || (typeof source !== "string" && source.kind === "config"))
    words.addFromText(path, text);
  if (source === null) return { source, summary: null, diagnostics: faults(path, text, named) };
  if (typeof source === "string")
    return {
      source: null,
      summary: null,
      diagnostics: [unread(path, source)],
    };
  if (source.kind === "config") {
    if (turnsCheckpointingOn(source.config)) words.add(`${CHECKPOINTED_BY}${path}`);
    return { source, summary: null, diagnostics: [] };
  }
  const { file } = source;
  const diagnostics = syntaxErrors(path, file.tree.errors, () => file.lines).map((one) =>
    source.notebook ? placed(one, source.notebook.cells) : one,
  );
  // What only they use, the training does not.
  if (isUnitTest(file, inside)) return { source: null, summary: null, diagnostics };
  if (outline) words.addFromText(path, text);
  else words.addFrom(file);
  const summary = summarize(file);
  const aside = asideIn(inside);
  return { source, summary: aside === undefined ? summary : { ...summary, aside }, diagnostics };
}

/** What was, what documents, and what others wrote: also a library as it is unpacked, `peft-main/`. */
const ASIDE =
  /(?:^|\/)((?:\w+[_-])?(?:legacy|old|deprecated|backup|bak)|obsolete|archived?|unused|docs|third_?party|3rd_?party|externals?|vendor(?:ed)?|(?:transformers|peft|diffusers|accelerate|trl|fairseq|detectron2|apex|deepspeed|timm|pytorch-lightning|espnet|mmcv|mmdetection|mmsegmentation)-(?:main|master|\d[\w.]*))\//i;

const asideIn = (inside: string): string | undefined => ASIDE.exec(inside)?.[1];

/**
 * Of a text with nothing for any rule; that it is broken is worth a word all the same. Settings are of all kinds, and their
 * templates are no YAML yet: only of those that are named outright.
 */
export function faults(path: string, text: string, named: boolean): Diagnostic[] {
  if (path.endsWith(".py")) return syntaxErrors(path, parse(text).errors, () => new Lines(text));
  if (path.endsWith(".ipynb")) {
    const notebook = readNotebook(text);
    if (typeof notebook === "string") return [unread(path, notebook)];
    const { errors } = parse(notebook.text, false, notebook.cells);
    return syntaxErrors(path, errors, () => new Lines(notebook.text)).map((one) =>
      placed(one, notebook.cells),
    );
  }
  const config = named && isConfig(path) ? readConfig(path, text) : null;
  return typeof config === "string" ? [unread(path, config)] : [];
}

const unread = (path: string, message: string): Diagnostic => ({ path, line: null, message, level: "error" });

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
): { findings: ReportedFinding[]; diagnostics: Diagnostic[]; project: ProjectFacts } {
  const words = new Words();
  const layout = new Layout(texts.map(({ path }) => path));
  const diagnostics: Diagnostic[] = [];
  const inTimeOrSaid = <T>(path: string, text: string, look: () => T): T | null => {
    try {
      return inTime(text.length, look);
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      diagnostics.push(ownFault(path, error));
      return null;
    }
  };
  const scans = texts.flatMap(({ path, text }) => {
    const seen = inTimeOrSaid(path, text, () => scan(path, text, words, layout, true));
    return seen ? [{ path, text, ...seen }] : [];
  });
  const project = combine(
    scans.flatMap(({ summary }) => (summary ? [summary] : [])),
    words.all,
  );
  const findings = scans.flatMap(
    ({ path, text, source }) =>
      (source && inTimeOrSaid(path, text, () => check(source, project, settings))) ?? [],
  );
  return { findings, diagnostics: [...scans.flatMap((one) => one.diagnostics), ...diagnostics], project };
}
