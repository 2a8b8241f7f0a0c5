import { Overlay } from "../base/overlay.ts";
import { readNotebook } from "../python/notebook.ts";
import type { EditableAudit } from "./audit.ts";
import { isConversion } from "./conversions.ts";
import { ownFault } from "./discover.ts";
import { inTime } from "./engine.ts";
import { Words } from "./facts/mentions.ts";
import { combine } from "./facts/project.ts";
import type { ProjectFacts } from "./facts/project.ts";
import { MADE, targetOf } from "./facts/summary.ts";
import type { FileSummary, Target } from "./facts/summary.ts";
import { last } from "./facts/torch-names.ts";
import { isGenerated } from "./generated.ts";
import { Layout } from "./layout.ts";
import type { Diagnostic, ReportedFinding } from "./report.ts";
import { check, scan } from "./session.ts";
import type { Settings } from "./settings.ts";

export interface Judged {
  readonly findings: readonly ReportedFinding[];
  readonly diagnostics: readonly Diagnostic[];
}

interface Entry extends Judged {
  readonly summary: FileSummary | null;
  /** The last text without syntax errors, and what was found in it; only of files that were changed. */
  readonly good: { readonly text: string; readonly findings: readonly ReportedFinding[] } | null;
}

const NOTHING: Entry = { summary: null, good: null, findings: [], diagnostics: [] };

/** A tree that is being edited: one file is judged anew at once, what that means for the others when there is time. */
export class Workspace {
  readonly #settings: Settings;
  readonly #entries = new Map<string, Entry>();
  /** Found in a folder, not asked for outright. */
  readonly #unnamed = new Set<string>();
  #project: ProjectFacts;
  /** What was mentioned once counts as mentioned. */
  readonly #words: Set<string>;
  #stale = false;
  #layout: Layout;

  constructor(audit: EditableAudit, settings: Settings) {
    this.#settings = settings;
    this.#project = audit.project;
    this.#layout = new Layout(audit.found.map(({ path }) => path));
    this.#words = new Set(audit.words);
    for (const { path, named } of audit.found) {
      this.#entries.set(path, NOTHING);
      if (!named) this.#unnamed.add(path);
    }
    for (const text of audit.summaries) {
      const summary = JSON.parse(text) as FileSummary;
      this.#put(summary.path, { summary });
    }
    for (const finding of audit.findings)
      this.#put(finding.path, { findings: [...this.of(finding.path).findings, finding] });
    for (const diagnostic of audit.diagnostics)
      this.#put(diagnostic.path, { diagnostics: [...this.of(diagnostic.path).diagnostics, diagnostic] });
  }

  get paths(): readonly string[] {
    return [...this.#entries.keys()];
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  of(path: string): Judged {
    return this.#entries.get(path) ?? NOTHING;
  }

  #put(path: string, change: Partial<Entry>): void {
    this.#entries.set(path, { ...(this.#entries.get(path) ?? NOTHING), ...change });
  }

  remove(path: string): void {
    if (this.#entries.get(path)?.summary) this.#stale = true;
    this.#entries.delete(path);
  }

  /** The file with this text, judged with what is known of the others. `settle` says what it changes for them. */
  update(path: string, text: string): Judged {
    try {
      inTime(text.length, () => this.#judge(path, text));
    } catch (error) {
      this.#put(path, { findings: [], diagnostics: [ownFault(path, error)] });
    }
    return this.of(path);
  }

  #judge(path: string, text: string): void {
    const before = this.#entries.get(path) ?? NOTHING;
    if (!this.#entries.has(path)) this.#layout = new Layout([...this.#entries.keys(), path]);
    const words = new Words();
    const { source, summary, diagnostics } = scan(path, text, words, this.#layout);
    if (this.#mentions(words.all)) this.#stale = true;
    // While somebody is typing, what was found in the last whole text stands, as far as the text around it does.
    if (diagnostics.length > 0 && before.good) {
      const stays = path.endsWith(".ipynb") ? inSameCells : moved;
      this.#put(path, { diagnostics, findings: stays(before.good.findings, before.good.text, text) });
      return;
    }
    if (JSON.stringify(summary) !== JSON.stringify(before.summary)) this.#stale = true;
    const known = this.#stale && summary ? withNew(this.#project, summary) : this.#project;
    const passedOver =
      this.#unnamed.has(path) &&
      ((!this.#settings.generated && isGenerated(text)) || isConversion(path, text));
    const findings = source && !passedOver ? check(source, known, this.#settings) : [];
    this.#put(path, {
      summary,
      diagnostics,
      findings,
      good: diagnostics.length === 0 ? { text, findings } : before.good,
    });
  }

  /** Whether these words are about a class that nobody had mentioned. */
  #mentions(words: ReadonlySet<string>): boolean {
    const fresh = [...words].filter((word) => !this.#words.has(word));
    for (const word of fresh) this.#words.add(word);
    if (fresh.length === 0) return false;
    const meant = new Set(fresh.map((word) => word.replace(/^\^|\.\*?$/g, "")));
    return [...this.#project.unused].some((name) => name.split(".").some((part) => meant.has(part)));
  }

  /** Takes in what the updates since the last time mean for the whole tree. The files that this may concern. */
  settle(): readonly string[] {
    if (!this.#stale) return [];
    this.#stale = false;
    const before = this.#project;
    const summaries = [...this.#entries.values()].flatMap(({ summary }) => (summary ? [summary] : []));
    this.#project = combine(summaries, this.#words);
    const changed = changedNames(before, this.#project);
    if (changed.size === 0) return [];
    return summaries
      .filter(
        ({ module, functions, classes }) =>
          changed.has(module) ||
          functions.some(
            ({ name, calls }) => changed.has(name) || calls.some((call) => isNamed(targetOf(call), changed)),
          ) ||
          classes.some(
            ({ name, bases }) => changed.has(name) || bases.some((base) => changed.has(last(base))),
          ),
      )
      .map(({ path }) => path);
  }
}

/** The old facts, with those of functions that are new in this file as the file alone shows them. */
function withNew(project: ProjectFacts, summary: FileSummary): ProjectFacts {
  const own = combine([summary], new Set());
  return {
    ...project,
    functions: over(own.functions, project.functions),
    roles: over(own.roles, project.roles),
    accelerated: new Set([...project.accelerated, ...own.accelerated]),
  };
}

/** What is new in one map, over all of the other: copying tens of thousands of entries takes longer than judging the file. */
function over<V>(own: ReadonlyMap<string, V>, under: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  return new Overlay(new Map([...own].filter(([name]) => !under.has(name))), under);
}

/** Functions, classes and modules of which the tree now says something else; and their last names, by which callers know them. */
function changedNames(before: ProjectFacts, after: ProjectFacts): Set<string> {
  const changed = new Set<string>();
  const compare = <V>(old: ReadonlyMap<string, V>, now: ReadonlyMap<string, V>): void => {
    for (const name of new Set([...old.keys(), ...now.keys()]))
      if (JSON.stringify(old.get(name)) !== JSON.stringify(now.get(name))) {
        changed.add(name);
        changed.add(last(name));
        // Of a function inside another, who has it made by that one knows no more than its name.
        changed.add(`${last(name.slice(0, Math.max(0, name.lastIndexOf("."))))}${MADE}`);
      }
  };
  compare(before.functions, after.functions);
  compare(before.roles, after.roles);
  compare(before.parts, after.parts);
  compare(before.handed, after.handed);
  compare(before.chosen, after.chosen);
  compare(before.pinning, after.pinning);
  for (const [old, now] of [
    [before.unused, after.unused],
    [before.inner, after.inner],
    [before.choices, after.choices],
    [before.tried, after.tried],
    [before.accelerated, after.accelerated],
    [before.working, after.working],
    [before.staffed, after.staffed],
    [before.varying, after.varying],
    [before.mayVary, after.mayVary],
    [before.defaulting, after.defaulting],
    [before.blocking, after.blocking],
    [before.ranked, after.ranked],
    [before.placed, after.placed],
    [before.early, after.early],
    [before.replicated, after.replicated],
    [before.states, after.states],
    [before.training, after.training],
  ] as const) {
    for (const name of old) if (!now.has(name)) changed.add(name);
    for (const name of now) if (!old.has(name)) changed.add(name);
  }
  return changed;
}

/** Functions of the file itself are asked for by their own names. */
const isNamed = (target: Target, names: ReadonlySet<string>): boolean =>
  typeof target === "string" &&
  names.has(target.endsWith(MADE) ? `${last(target.slice(0, -MADE.length))}${MADE}` : last(target));

/** Findings of the old notebook in cells that are the same in the new one. */
function inSameCells(
  findings: readonly ReportedFinding[],
  old: string,
  now: string,
): readonly ReportedFinding[] {
  const [before, after] = [cellTexts(old), cellTexts(now)];
  return findings
    .filter(({ cell = 0 }) => before.has(cell) && before.get(cell) === after.get(cell))
    .map((finding) => ({ ...finding, fix: null }));
}

/** By the cells' numbers. */
function cellTexts(json: string): ReadonlyMap<number, string> {
  const notebook = readNotebook(json);
  return typeof notebook === "string"
    ? new Map()
    : new Map(notebook.cells.map(({ number, start, end }) => [number, notebook.text.slice(start, end)]));
}

/** Findings of the old text that stand in lines the new text still has, above or below what was edited. */
function moved(findings: readonly ReportedFinding[], old: string, now: string): ReportedFinding[] {
  const [before, after] = [old.split("\n"), now.split("\n")];
  const most = Math.min(before.length, after.length);
  let top = 0;
  while (top < most && before[top] === after[top]) top++;
  let bottom = 0;
  while (bottom < most - top && before[before.length - 1 - bottom] === after[after.length - 1 - bottom])
    bottom++;
  const shift = after.length - before.length;
  return findings.flatMap((finding) => {
    if (finding.endLine <= top) return [{ ...finding, fix: null }];
    if (finding.line <= before.length - bottom) return [];
    return [{ ...finding, fix: null, line: finding.line + shift, endLine: finding.endLine + shift }];
  });
}
