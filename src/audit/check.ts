import { createHash } from "node:crypto";
import type { PythonFile } from "../python/file.ts";
import { blockOf, statementOf } from "../python/nodes.ts";
import { Lines } from "../python/source.ts";
import type { NotebookCell } from "../python/notebook.ts";
import type { Node } from "../python/tree.ts";
import type { ConfigFile } from "./config.ts";
import { Facts } from "./facts/facts.ts";
import { whyOnHost, whyUntold } from "./facts/on-host.ts";
import { whyIdle, whyNot, whyNumber } from "./facts/shipped.ts";
import type { Place, ReportedFinding } from "./report.ts";
import type { Finding, Fix, Rule, RuleMeta } from "./rule.ts";
import { ALL_META, RULES, UNUSED_NOQA } from "./rules.ts";
import { isIgnoredIn, isSelected, severityOf } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { Suppressions, configComments } from "./suppress.ts";
import { importEdits } from "./imports.ts";
import { earned } from "./trust.ts";

/** Rules as they are asked of every file: all of one shape, so that V8 need not look up each one anew. */
interface Selected {
  readonly code: string;
  readonly meta: RuleMeta;
  readonly hotOnly: boolean;
  readonly inTraining: boolean;
  readonly check: Rule["check"] | null;
  readonly checkConfig: Rule["checkConfig"] | null;
}

const selections = new WeakMap<Settings, readonly Selected[]>();

/** Chosen once, not for every file. */
function selectedRules(settings: Settings): readonly Selected[] {
  let rules = selections.get(settings);
  if (!rules) {
    rules = RULES.filter(({ meta }) => isSelected(meta.code, settings)).map(
      ({ meta, check = null, checkConfig = null }) => ({
        code: meta.code,
        meta,
        hotOnly: meta.hotOnly === true,
        inTraining: meta.inTraining === true,
        check,
        checkConfig,
      }),
    );
    selections.set(settings, rules);
  }
  return rules;
}

/** Every selected rule over one Python file; what `# noqa` silences is left out. */
export function checkPython(
  facts: Facts,
  settings: Settings,
  cells: readonly NotebookCell[] | null,
): ReportedFinding[] {
  const { file } = facts;
  const suppressions = new Suppressions(file.text, file.tree.comments, file.lines, true);
  const report = new Reporter(file.path, file, settings, cells);
  const block = new LikelyBlocks();
  const judge = (asked: Facts, told: Set<string>): void => {
    for (const { code, meta, hotOnly, inTraining, check } of selectedRules(settings)) {
      if (!check || isIgnoredIn(file.path, code, settings)) continue;
      if ((hotOnly && !asked.anyHot) || (inTraining && !asked.anyTraining)) continue;
      for (const found of check(asked)) {
        const lines = [
          file.lines.line(found.at.start),
          file.lines.line(Math.max(found.at.start, found.at.end - 1)),
        ];
        if (suppressions.silences(code, lines) || lines.some((line) => told.has(`${code} ${line}`))) continue;
        if (asked.guesses && isLeftOut(found, asked)) continue;
        const finding = asked.guesses
          ? asLikely(found, asked)
          : asEarned(meta, asItRuns(meta, found, asked), asked, settings);
        if (asked.guesses && meta.patterns.some((one) => QUEUED.has(one)) && block.goesOn(code, found.at))
          continue;
        report.add(meta, finding, fixOf(finding, file), asked.guesses);
        // Of one line, one guess is enough.
        if (asked.guesses) for (const line of lines) told.add(`${code} ${line}`);
      }
    }
  };
  judge(facts, new Set());
  if (settings.likely && isWorthGuessing(facts)) judge(new Facts(file, facts.project, true), report.told());
  if (isSelected(UNUSED_NOQA.code, settings) && !isIgnoredIn(file.path, UNUSED_NOQA.code, settings))
    for (const { code, at } of suppressions.unused((one) => ran(one, file.path, settings)))
      report.add(
        UNUSED_NOQA,
        {
          at,
          message: CODES.has(code)
            ? `\`noqa: ${code}\` silences nothing here`
            : `\`noqa: ${code}\` silences nothing: there is no rule of that name`,
        },
        undefined,
      );
  return report.sorted();
}

/** The fix with the imports that it needs; none of what has nothing to edit, nor in a file that does not parse. */
function fixOf({ fix }: Finding, file: PythonFile): Fix | undefined {
  if (!fix || fix.edits.length === 0 || file.tree.errors.length > 0) return undefined;
  return fix.imports ? { ...fix, edits: [...fix.edits, ...importEdits(file, fix.imports)] } : fix;
}

/** What is only likely, and nothing runs, is worth no note. Of a file that is audited alone nobody knows who uses it. */
const isLeftOut = ({ at }: Finding, facts: Facts): boolean =>
  facts.project.files > 1 && "parent" in at && whyIdle(at as Node, facts) !== null;

/** Patterns of the catalogue that wait for what is queued, and find next to nothing queued right after they have. */
const QUEUED: ReadonlySet<number> = new Set([25, 26, 37, 69]);

/** Of statements one after the other that a rule says the same likely thing of, the first is enough: `a.item()`, `b.item()`, `c.item()`. */
class LikelyBlocks {
  readonly #told = new Map<string, Set<Node>>();

  /** Whether the statement right above was told, or would have been but for the one above that. */
  goesOn(code: string, at: Finding["at"]): boolean {
    const statement = "parent" in at ? statementOf(at as Node) : null;
    const block = statement && blockOf(statement);
    if (!statement || !block || /^(?:If|For|While|With|Try|FunctionDef|ClassDef)$/.test(statement.kind))
      return false;
    let told = this.#told.get(code);
    if (!told) this.#told.set(code, (told = new Set()));
    const above = block[block.indexOf(statement) - 1];
    const goesOn = told.has(statement) || (above !== undefined && told.has(above));
    told.add(statement);
    return goesOn;
  }
}

/** What rests on a guess is worth a look; nobody's code is changed for it. */
function asLikely({ at, message }: Finding, facts: Facts): Finding {
  const but = "parent" in at ? whyNot(at as Node, facts) : null;
  return { at, severity: "note", message: `${message}${but === null ? "" : ` (${but})`} (likely)` };
}

/** A tree of more files than this is a library: guesses about its layers and helpers are of use to nobody, and it takes long. */
const LIBRARY = 600;

/** Whether a file trains, or is part of a program that is small enough to do nothing else. */
function isWorthGuessing({ stepLoops, project }: Facts): boolean {
  return stepLoops.size > 0 || project.files <= LIBRARY;
}

const CODES: ReadonlySet<string> = new Set(ALL_META.map(({ code }) => code));

/** Whether a rule had its say; one of ours that there is not has none. */
function ran(wanted: string, path: string, settings: Settings): boolean {
  if (wanted.startsWith("PLM") && !CODES.has(wanted)) return true;
  return (
    selectedRules(settings).some(({ code, check }) => code === wanted && check !== null) &&
    !isIgnoredIn(path, wanted, settings)
  );
}

/** What a rule that has often been wrong says is a note, where it had to guess. */
const asEarned = (meta: RuleMeta, finding: Finding, facts: Facts, { unproven }: Settings): Finding =>
  unproven ? finding : { ...finding, severity: earned(meta, finding, facts) };

/** What happens only with an option that is off by default, or in a network that nobody makes, is worth a note. */
function asItRuns(meta: RuleMeta, finding: Finding, facts: Facts): Finding {
  const { at } = finding;
  const severity = finding.severity ?? meta.severity;
  if (severity === "note" || !("parent" in at)) return finding;
  // What grows without bound does so on the host as well.
  const but =
    whyNot(at as Node, facts) ??
    whyNumber(at as Node, facts) ??
    (meta.severity === "error" ? null : whyOnHost(facts)) ??
    whyUntold(meta.onDevice, facts) ??
    whyWaitedFor(meta, facts);
  return but === null ? finding : { ...finding, severity: "note", message: `${finding.message} (${but})` };
}

/** A read waits for next to nothing where the host has waited for every kernel, or for every gradient. */
function whyWaitedFor({ patterns }: RuleMeta, { file, project }: Facts): string | null {
  if (!patterns.some((pattern) => READS.has(pattern))) return null;
  if (project.blocking.has(file.module))
    return "once `CUDA_LAUNCH_BLOCKING=1` no longer has it wait for every kernel anyway";
  return project.searching.has(file.module)
    ? "once anomaly detection no longer has it read every gradient anyway"
    : null;
}

/** Patterns of the catalogue that cost the wait for what is queued. */
const READS: ReadonlySet<number> = new Set([25, 26, 27, 28, 29, 68, 69]);

export function checkConfig(config: ConfigFile, settings: Settings): ReportedFinding[] {
  const { path, text } = config;
  const lines = new Lines(text);
  const report = new Reporter(path, { text, lines }, settings, null);
  const comments = config.format === "json" ? [] : configComments(text);
  const suppressions = new Suppressions(text, comments, lines, false);
  for (const { code, meta, checkConfig: check } of selectedRules(settings)) {
    if (!check || isIgnoredIn(path, code, settings)) continue;
    for (const finding of config.documents.flatMap((one) => [...check(one)])) {
      const { start, end } = finding.at;
      if (!suppressions.silences(code, [lines.line(start), lines.line(Math.max(start, end - 1))]))
        report.add(meta, finding, finding.fix);
    }
  }
  return report.sorted();
}

/** Most files have no findings, and then nobody asks for their lines. */
type Source = Pick<PythonFile, "text" | "lines">;

class Reporter {
  readonly #path: string;
  readonly #source: Source;
  readonly #settings: Settings;
  readonly #cells: readonly NotebookCell[] | null;
  readonly #found: { readonly start: number; readonly end: number; readonly finding: ReportedFinding }[] = [];
  readonly #seen = new Map<string, number>();

  constructor(path: string, source: Source, settings: Settings, cells: readonly NotebookCell[] | null) {
    this.#path = path;
    this.#source = source;
    this.#settings = settings;
    this.#cells = cells;
  }

  add(meta: RuleMeta, finding: Finding, fix: Fix | undefined, likely = false): void {
    const { start, end } = finding.at;
    const cell = this.#cells?.find((one) => one.start <= start && start <= one.end);
    const place = this.#place(start, end, cell);
    this.#found.push({
      start,
      end,
      finding: {
        rule: meta.code,
        name: meta.name,
        severity: severityOf(meta.code, this.#settings) ?? finding.severity ?? meta.severity,
        path: this.#path,
        ...place,
        ...(cell ? { cell: cell.number } : {}),
        message: finding.message,
        likely,
        fix: fix
          ? {
              grade: fix.grade,
              title: fix.title,
              edits: fix.edits.map((edit) => ({
                ...this.#place(edit.start, edit.end, cell),
                start: edit.start,
                end: edit.end,
                text: edit.text,
              })),
            }
          : null,
        fingerprint: this.#fingerprint(`${meta.code}\0${this.#path}`, start, end),
        anchor: this.#fingerprint(meta.code, start, end),
        frame: this.#frame(start, end, cell),
      },
    });
  }

  /** `PLM025 17` for every line of the text that a rule has said something of. */
  told(): Set<string> {
    const told = new Set<string>();
    for (const { start, end, finding } of this.#found)
      for (let line = this.#source.lines.line(start); line <= this.#source.lines.line(end); line++)
        told.add(`${finding.rule} ${line}`);
    return told;
  }

  sorted(): ReportedFinding[] {
    return this.#found
      .sort((a, b) => a.start - b.start || inOrder(a.finding.rule, b.finding.rule))
      .map(({ finding }) => finding);
  }

  #place(start: number, end: number, cell: NotebookCell | undefined): Place {
    const above = cell ? cell.line - 1 : 0;
    return {
      line: this.#source.lines.line(start) - above,
      column: this.#source.lines.column(start),
      endLine: this.#source.lines.line(end) - above,
      endColumn: this.#source.lines.column(end),
    };
  }

  #fingerprint(of: string, start: number, end: number): string {
    const hash = createHash("sha256")
      .update(`${of}\0${this.#source.text.slice(start, end).replace(/\s+/g, " ")}`)
      .digest("hex")
      .slice(0, 16);
    // The same text twice in a file: the second is another finding.
    const before = this.#seen.get(hash) ?? 0;
    this.#seen.set(hash, before + 1);
    return before === 0 ? hash : `${hash}:${before}`;
  }

  #frame(start: number, end: number, cell: NotebookCell | undefined): ReportedFinding["frame"] {
    const first = this.#source.lines.line(start);
    const last = Math.min(this.#source.lines.line(end), first + 5);
    const above = cell ? cell.line - 1 : 0;
    const low = Math.max(1 + above, first - 1);
    const high = Math.min(
      this.#source.lines.count,
      last + 1,
      cell ? this.#source.lines.line(cell.end) : Infinity,
    );
    const frame: { line: number; text: string }[] = [];
    for (let line = low; line <= high; line++)
      frame.push({
        line: line - above,
        text: this.#source.text
          .slice(this.#source.lines.start(line), this.#source.lines.start(line + 1))
          .replace(/[\r\n]+$/, "")
          .slice(0, 300),
      });
    return frame;
  }
}

/** Of two codes: they are of plain letters and digits, which need no knowledge of languages. */
function inOrder(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
