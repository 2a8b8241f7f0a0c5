import { once } from "node:events";
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { moduleName } from "../python/file.ts";
import { discover } from "./discover.ts";
import type { FoundFile } from "./discover.ts";
import { inOneGo, tuneForLargeTrees } from "./engine.ts";
import { INSTALLED } from "./facts/mentions.ts";
import { combine } from "./facts/project.ts";
import type { ProjectFacts } from "./facts/project.ts";
import type { FileSummary } from "./facts/summary.ts";
import { last } from "./facts/torch-names.ts";
import type { AuditReport, Diagnostic, ReportedFinding } from "./report.ts";
import { auditTexts } from "./session.ts";
import type { Settings } from "./settings.ts";
import { Share } from "./work.ts";
import type { Job, Results, Task } from "./work.ts";

/** Starting a second thread takes about 60 ms: below this much source it is not worth it. */
const THREAD_WORTHY = 3_000_000;
/** The build's second entry, beside or above the chunk this file ends up in. From source there is none, and one thread. */
const WORKER =
  ["./audit-worker.js", "../audit-worker.js"]
    .map((name) => new URL(name, import.meta.url))
    .find((url) => existsSync(url)) ?? null;

export interface Audit extends AuditReport {
  /** The files behind the paths, for whoever mends them. */
  readonly found: readonly FoundFile[];
  readonly project: ProjectFacts;
}

export interface EditableAudit extends Audit {
  /** What each file tells the others, as JSON. */
  readonly summaries: readonly string[];
  /** By which the files speak of classes and modules. */
  readonly words: ReadonlySet<string>;
}

/** Discover, scan every file, combine what they say, check every file. Paths in the report are relative to `root`. */
export async function audit(paths: readonly string[], root: string, settings: Settings): Promise<Audit> {
  const { summaries: _, words: __, ...rest } = await auditForEditing(paths, root, settings, false);
  return rest;
}

/** Of one text, which is no file here. */
export function ofText(path: string, text: string, settings: Settings): Audit {
  const bytes = Buffer.byteLength(text);
  return {
    files: 1,
    bytes,
    generated: 0,
    ...auditTexts([{ path, text }], settings),
    fixed: [],
    diff: null,
    found: [{ absolute: path, path, inside: path, bytes, named: true }],
  };
}

/** The same, with what a workspace needs to go on from there; in a large tree that is memory. */
export async function auditForEditing(
  paths: readonly string[],
  root: string,
  settings: Settings,
  keep = true,
): Promise<EditableAudit> {
  let bytes = 0;
  let worker: Worker | null = null;
  const { files, diagnostics, installed, old } = discover(paths, root, settings.exclude, (file) => {
    bytes += file.bytes;
    // It starts while the others are being found.
    if (WORKER && bytes > THREAD_WORTHY) worker ??= secondThread(WORKER);
  });
  // Large files first: the threads then finish together.
  const order = [...files].sort((a, b) => b.bytes - a.bytes);
  const { parts, generated, findings, project, summaries, words } = worker
    ? await inTwoThreads(order, settings, worker, { keep, installed, old })
    : await work(oneThread(order, settings), order, { keep, installed, old });
  return {
    files: files.length,
    bytes,
    generated,
    findings: findings.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
    diagnostics: [...diagnostics, ...parts.flatMap((part) => part.diagnostics)].sort((a, b) =>
      a.path < b.path ? -1 : 1,
    ),
    fixed: [],
    diff: null,
    found: files,
    project,
    summaries,
    words,
  };
}

/** MB for what was just made, in the second thread: less than V8's own 48, to stay below 300 MB in all. */
const YOUNG = 24;

function secondThread(script: URL): Worker {
  tuneForLargeTrees();
  return new Worker(script, { resourceLimits: { maxYoungGenerationSizeMb: YOUNG } });
}

async function inTwoThreads(
  files: readonly FoundFile[],
  settings: Settings,
  worker: Worker,
  asked: Asked,
): Promise<Outcome> {
  worker.postMessage({ files, settings });
  try {
    return await work(twoThreads(files, settings, worker), files, asked);
  } finally {
    // What it leaves is cleared away while the report is written.
    void worker.terminate();
  }
}

interface Outcome extends Pick<EditableAudit, "project" | "summaries" | "words"> {
  /** Whatever has diagnostics: the scans and the checks. */
  readonly parts: readonly { readonly diagnostics: readonly Diagnostic[] }[];
  readonly generated: number;
  readonly findings: ReportedFinding[];
}

/** Has a job done on these files; what each thread made of it. `first`: what this thread does alone before it joins in. */
type Crew = <J extends Job>(
  job: J,
  order: readonly number[],
  first?: () => void,
) => Promise<readonly Results[J["kind"]][]>;

function oneThread(files: readonly FoundFile[], settings: Settings): Crew {
  const share = new Share(files, settings, true);
  return async <J extends Job>(job: J, order: readonly number[], first?: () => void) => {
    first?.();
    return [share.do({ ...job, order, next: new Int32Array(1) }) as Results[J["kind"]]];
  };
}

function twoThreads(files: readonly FoundFile[], settings: Settings, worker: Worker): Crew {
  const share = new Share(files, settings, false);
  return async <J extends Job>(job: J, order: readonly number[], first?: () => void) => {
    const task: Task = { ...job, order, next: new Int32Array(new SharedArrayBuffer(4)) };
    const reply = once(worker, "message");
    worker.postMessage(task);
    if (first) inOneGo(first);
    const ours = share.do(task);
    return [ours, (await reply)[0]] as Results[J["kind"]][];
  };
}

interface Asked {
  /** With what a workspace needs to go on from there. */
  readonly keep: boolean;
  /** Of a tree that is, or is part of, an installed package. */
  readonly installed: boolean;
  /** Marks of what a tree asks for in an old version. */
  readonly old: readonly string[];
}

async function work(
  crew: Crew,
  files: readonly FoundFile[],
  { keep, installed, old }: Asked,
): Promise<Outcome> {
  const scans = [...(await crew({ kind: "scan" }, [...files.keys()]))];
  const texts: string[] = [];
  const parsed: FileSummary[] = [];
  const readSummaries = (): void => {
    for (const { summaries } of scans)
      for (const text of summaries.splice(0)) {
        if (keep) texts.push(text);
        parsed.push(JSON.parse(text) as FileSummary);
      }
  };
  const generated = scans.flatMap((scan) => scan.generated);
  for (let unread = generated; unread.length > 0;) {
    const imported = new Set(scans.flatMap((scan) => [...scan.imported]));
    // Whoever edits may import any of them next.
    const wanted = new Set(
      keep ? unread : unread.filter((at) => imported.has(last(moduleName(files[at]!.path)))),
    );
    if (wanted.size === 0) break;
    unread = unread.filter((at) => !wanted.has(at));
    scans.push(...(await crew({ kind: "read" }, [...wanted], readSummaries)));
  }
  const irrelevant = scans.flatMap((scan) => scan.irrelevant);
  const words = new Set(scans.flatMap((scan) => [...scan.words]));
  if (installed) words.add(INSTALLED);
  for (const mark of old) words.add(mark);
  let project: ProjectFacts;
  const parses = await crew({ kind: "parse" }, irrelevant, () => {
    readSummaries();
    // By path, so that the outcome does not depend on which thread took which file.
    project = combine(
      parsed.splice(0).sort((a, b) => (a.path < b.path ? -1 : 1)),
      words,
    );
  });
  const relevant = scans.flatMap((scan) => scan.relevant).sort((a, b) => a - b);
  const checks = await crew({ kind: "check", project: project! }, relevant);
  return {
    parts: [...scans, ...parses, ...checks],
    generated: generated.length,
    findings: checks.flatMap(({ findings }) => findings),
    project: project!,
    summaries: texts.sort(),
    words,
  };
}
