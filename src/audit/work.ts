import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { Lines, STAND_IN, decode, decodeNarrow } from "../python/source.ts";
import { isConversion } from "./conversions.ts";
import { ownFault, reason } from "./discover.ts";
import type { FoundFile } from "./discover.ts";
import { inTime, youngCollector } from "./engine.ts";
import type { ProjectFacts } from "./facts/project.ts";
import { Words } from "./facts/mentions.ts";
import { isGenerated } from "./generated.ts";
import { Layout } from "./layout.ts";
import type { Diagnostic, ReportedFinding } from "./report.ts";
import { check, faults, scanRelevant } from "./session.ts";
import type { Settings } from "./settings.ts";
import { isRelevant, readSource } from "./source.ts";
import type { Source } from "./source.ts";
import { isTestText } from "./unit-tests.ts";

/** Larger than any source worth reading; a data file with a code file's name. */
const MAX_BYTES = 5_000_000;
const MAX_CONFIG_BYTES = 200_000;
/** Than nearly every file. */
const LARGE = 500_000;
/** A generated file imports what it needs before this. */
const IMPORTS = 10_000;
/**
 * Bytes of source. Judging makes 35 to 60 bytes for each of them, the first look half as many: before this much the 16 MB
 * for the young are not full, and V8 does not have to collect in the middle of a file, when it must copy the whole tree.
 */
const COLLECT_AFTER = { scan: 300_000, read: 300_000, parse: 300_000, check: 150_000 };

/** What the threads do together: each takes the next file, by a counter they share, until none is left. */
export type Task = {
  /** Positions of the files. */
  readonly order: readonly number[];
  readonly next: Int32Array;
} & Job;

export type Job =
  /** First look. Generated files are put off, and those that have nothing for any rule. */
  | { readonly kind: "scan" }
  /** First look at generated files that somebody imports. */
  | { readonly kind: "read" }
  /** The only look at files that have nothing for any rule. */
  | { readonly kind: "parse" }
  /** Second look, when the whole tree has been seen. */
  | { readonly kind: "check"; readonly project: ProjectFacts };

/** What comes of one thread's share of it. */
export interface Results {
  readonly scan: ScanResult;
  readonly read: ScanResult;
  readonly parse: ParseResult;
  readonly check: CheckResult;
}

export interface ScanResult {
  /** JSON, one a file: a tenth of the memory of the objects, and it crosses threads as it is. */
  readonly summaries: string[];
  readonly diagnostics: Diagnostic[];
  /** Positions of the files worth a second look. */
  readonly relevant: number[];
  /** Positions of the files that have nothing for any rule. */
  readonly irrelevant: number[];
  /** Positions of the files that are not judged because they are generated. */
  readonly generated: number[];
  /** The last two parts of each imported name: a module, or what it defines and the module. */
  readonly imported: Set<string>;
  /** By which the files speak of classes and modules. */
  readonly words: ReadonlySet<string>;
}

export interface ParseResult {
  readonly diagnostics: Diagnostic[];
}

export interface CheckResult {
  readonly findings: ReportedFinding[];
  readonly diagnostics: Diagnostic[];
}

interface Read {
  readonly text: string;
  /** No `STAND_IN` in it. */
  readonly exact: boolean;
}

interface Scanned {
  readonly source: Source | null;
  readonly summary: { readonly json: string; readonly imports: readonly string[] } | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** One thread's share of an audit. */
export class Share {
  readonly #files: readonly FoundFile[];
  readonly #settings: Settings;
  readonly #keep: boolean;
  readonly #layout: Layout;
  readonly #kept = new Map<number, Source>();
  readonly #collectYoung: (() => void) | null;
  /** Bytes of source since the young were collected. */
  #since = 0;
  readonly #buffer = Buffer.allocUnsafeSlow(LARGE);

  /** `keep`: hold on to the trees between the two looks. In a large tree parsing twice costs less than the memory. */
  constructor(files: readonly FoundFile[], settings: Settings, keep: boolean) {
    this.#files = files;
    this.#settings = settings;
    this.#keep = keep;
    this.#layout = new Layout(files.map(({ path }) => path));
    this.#collectYoung = keep ? null : youngCollector();
  }

  do(task: Task): Results[Task["kind"]] {
    switch (task.kind) {
      case "scan":
      case "read": {
        const words = new Words();
        const result: ScanResult = {
          summaries: [],
          diagnostics: [],
          relevant: [],
          irrelevant: [],
          generated: [],
          imported: new Set(),
          words: words.all,
        };
        this.#each(task, (at) =>
          this.#guarded(at, result, () => this.#scanFile(at, task.kind === "read", result, words)),
        );
        return result;
      }
      case "parse": {
        const result: ParseResult = { diagnostics: [] };
        this.#each(task, (at) => this.#guarded(at, result, () => this.#parseFile(this.#files[at]!, result)));
        return result;
      }
      case "check": {
        const result: CheckResult = { findings: [], diagnostics: [] };
        this.#each(task, (at) => this.#guarded(at, result, () => this.#checkFile(at, task.project, result)));
        return result;
      }
    }
  }

  /** Each file in a call of its own: what a loop's variables hold is alive until they get their next value. */
  #each({ kind, order, next }: Task, look: (at: number) => void): void {
    for (let turn = Atomics.add(next, 0, 1); turn < order.length; turn = Atomics.add(next, 0, 1)) {
      look(order[turn]!);
      this.#done(this.#files[order[turn]!]!, COLLECT_AFTER[kind]);
    }
  }

  #scanFile(at: number, unjudged: boolean, result: ScanResult, words: Words): void {
    const file = this.#files[at]!;
    const read = this.#read(file);
    if (read === null) return;
    if ("message" in read) {
      result.diagnostics.push(read);
      return;
    }
    const { text } = read;
    if (!unjudged && !file.named && !this.#settings.generated && isGenerated(text)) {
      result.generated.push(at);
      words.addImported(text.slice(0, IMPORTS));
      return;
    }
    if (!isRelevant(file.path, text) || (!file.named && isConversion(file.path, text))) {
      result.irrelevant.push(at);
      if (!isTestText(file.path, text)) words.addFromText(file.path, text);
      return;
    }
    const { source, summary, diagnostics } = this.#scanText(file, read, words, unjudged);
    result.diagnostics.push(...diagnostics);
    if (summary) {
      result.summaries.push(summary.json);
      for (const name of summary.imports) {
        // Of a package alone it is not known which module is meant.
        if (name.endsWith(".")) continue;
        const cut = name.lastIndexOf(".");
        result.imported.add(name.slice(cut + 1));
        if (cut > 0) result.imported.add(name.slice(name.lastIndexOf(".", cut - 1) + 1, cut));
      }
    }
    if (!source || unjudged) return;
    result.relevant.push(at);
    if (this.#keep) this.#kept.set(at, source);
  }

  #scanText(file: FoundFile, { text, exact }: Read, words: Words, unjudged: boolean): Scanned {
    const { source, summary, diagnostics } = scanRelevant(
      file.path,
      text,
      words,
      this.#layout,
      file,
      unjudged,
    );
    const json = summary && JSON.stringify(summary);
    if (!exact && (diagnostics.length > 0 || json?.includes(STAND_IN) === true))
      return this.#scanText(file, this.#readExactly(file), words, unjudged);
    return { source, summary: json === null ? null : { json, imports: summary!.imports }, diagnostics };
  }

  #parseFile(file: FoundFile, result: ParseResult): void {
    const read = this.#read(file);
    if (read === null || "message" in read) return;
    const found = faults(file.path, read.text, file.named);
    result.diagnostics.push(
      ...(read.exact || found.length === 0
        ? found
        : faults(file.path, this.#readExactly(file).text, file.named)),
    );
  }

  #guarded(at: number, { diagnostics }: { readonly diagnostics: Diagnostic[] }, look: () => void): void {
    const { path, bytes } = this.#files[at]!;
    try {
      inTime(bytes, look);
    } catch (error) {
      diagnostics.push(ownFault(path, error));
    }
  }

  #checkFile(at: number, project: ProjectFacts, result: CheckResult): void {
    const kept = this.#kept.get(at);
    this.#kept.delete(at);
    result.findings.push(...this.#judge(at, kept, project));
  }

  #judge(at: number, kept: Source | undefined, project: ProjectFacts): readonly ReportedFinding[] {
    if (kept) return check(kept, project, this.#settings);
    const read = this.#read(this.#files[at]!);
    return read === null || "message" in read ? [] : this.#judgeText(this.#files[at]!, read, project);
  }

  #judgeText(file: FoundFile, { text, exact }: Read, project: ProjectFacts): readonly ReportedFinding[] {
    const source = readSource(file.path, text, this.#layout);
    if (source === null || typeof source === "string") return [];
    const broken = source.kind === "python" && source.file.tree.errors.length > 0;
    const findings = !exact && broken ? null : check(source, project, this.#settings);
    return findings && (exact || !quotes(findings, text))
      ? findings
      : this.#judgeText(file, this.#readExactly(file), project);
  }

  /** Between two files nothing of the last one is alive any more: the cheapest moment to collect what was made for it. */
  #done(file: FoundFile, most: number): void {
    this.#since += file.bytes;
    if (!this.#collectYoung || this.#since < most) return;
    this.#since = 0;
    this.#collectYoung();
  }

  #read(file: FoundFile): Read | Diagnostic | null {
    const isConfig = /\.(?:ya?ml|json|toml)$/.test(file.path);
    if (isConfig && file.bytes > MAX_CONFIG_BYTES) return null;
    const fault = (message: string): Diagnostic => ({ path: file.path, line: null, message, level: "error" });
    if (file.bytes > (file.path.endsWith(".ipynb") ? MAX_BYTES * 10 : MAX_BYTES))
      return fault(`too large to audit (${Math.round(file.bytes / 1e6)} MB)`);
    try {
      const narrowly = !this.#keep && file.path.endsWith(".py");
      const decoded = narrowly ? decodeNarrow(this.#bytes(file)) : decode(readFileSync(file.absolute));
      if (typeof decoded !== "string")
        return { text: decoded.text, exact: !("exact" in decoded) || decoded.exact };
      return isConfig ? null : fault(decoded);
    } catch (error) {
      return fault(reason(error));
    }
  }

  /** Of a file that could be read a moment ago. */
  #readExactly(file: FoundFile): Read {
    const decoded = decode(readFileSync(file.absolute));
    if (typeof decoded === "string") throw new Error(decoded);
    return { text: decoded.text, exact: true };
  }

  /** Into the same memory each time: to ask for new memory takes longer than to read most files. */
  #bytes(file: FoundFile): Buffer {
    const opened = openSync(file.absolute, "r");
    try {
      let length = 0;
      for (;;) {
        const more = readSync(opened, this.#buffer, length, this.#buffer.length - length, null);
        if (more === 0) return this.#buffer.subarray(0, length);
        length += more;
        if (length === this.#buffer.length) return readFileSync(file.absolute);
      }
    } finally {
      closeSync(opened);
    }
  }
}

/** Whether what is said of a text, or the lines it is said of, have a `STAND_IN` in them. */
function quotes(findings: readonly ReportedFinding[], text: string): boolean {
  if (findings.length === 0) return false;
  const lines = new Lines(text);
  return findings.some(
    ({ line, endLine, message, fix }) =>
      message.includes(STAND_IN) ||
      fix?.edits.some((edit) => edit.text.includes(STAND_IN)) === true ||
      text.slice(lines.start(line - 1), lines.start(endLine + 2)).includes(STAND_IN),
  );
}
