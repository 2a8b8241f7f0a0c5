import { once } from "node:events";
import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { discover } from "./discover.ts";
import type { FoundFile } from "./discover.ts";
import { inOneGo, tuneForLargeTrees } from "./engine.ts";
import { combine } from "./facts/project.ts";
import type { ProjectFacts } from "./facts/project.ts";
import type { FileSummary } from "./facts/summary.ts";
import type { AuditReport, Diagnostic, ReportedFinding } from "./report.ts";
import type { Settings } from "./settings.ts";
import { Share } from "./work.ts";
import type { CheckResult, ScanResult } from "./work.ts";

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
}

/** Discover, scan every file, combine what they say, check every file. Paths in the report are relative to `root`. */
export async function audit(paths: readonly string[], root: string, settings: Settings): Promise<Audit> {
  const { summaries: _, ...rest } = await auditForEditing(paths, root, settings, false);
  return rest;
}

/** The same, with what a workspace needs to go on from there; in a large tree that is memory. */
export async function auditForEditing(
  paths: readonly string[],
  root: string,
  settings: Settings,
  keep = true,
): Promise<EditableAudit> {
  const { files, diagnostics } = discover(paths, root, settings.exclude);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  // Large files first: the threads then finish together.
  const order = [...files].sort((a, b) => b.bytes - a.bytes);
  const { parts, generated, findings, project, summaries } =
    WORKER && bytes > THREAD_WORTHY
      ? await inTwoThreads(order, settings, WORKER, keep)
      : inOneThread(order, settings);
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
  };
}

interface Outcome {
  /** Whatever has diagnostics: the scans and the checks. */
  readonly parts: readonly { readonly diagnostics: readonly Diagnostic[] }[];
  readonly generated: number;
  readonly findings: ReportedFinding[];
  readonly project: ProjectFacts;
  readonly summaries: readonly string[];
}

function inOneThread(files: readonly FoundFile[], settings: Settings): Outcome {
  const share = new Share(files, settings, true);
  const scan = share.scan(new Int32Array(1));
  const { project, summaries } = combineScans([scan], true);
  const checked = share.check(scan.relevant, new Int32Array(1), project);
  return {
    parts: [scan, checked],
    generated: scan.generated,
    findings: checked.findings,
    project,
    summaries,
  };
}

/** By path, so that the outcome does not depend on which thread took which file. */
function combineScans(
  scans: readonly ScanResult[],
  keep: boolean,
): { readonly project: ProjectFacts; readonly summaries: readonly string[] } {
  const texts = scans.flatMap(({ summaries }) => summaries.splice(0)).sort();
  const summaries = keep ? [...texts] : [];
  const parsed = texts.map((text, at) => {
    texts[at] = "";
    return JSON.parse(text) as FileSummary;
  });
  return { project: combine(parsed), summaries };
}

/** MB for what was just made, in the second thread: less than V8's own 48, to stay below 300 MB in all. */
const YOUNG = 30;

async function inTwoThreads(
  files: readonly FoundFile[],
  settings: Settings,
  script: URL,
  keep: boolean,
): Promise<Outcome> {
  tuneForLargeTrees();
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(script, {
    workerData: { files, settings, counter },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG },
  });
  try {
    const reply = <T>(): Promise<T> => once(worker, "message").then(([message]) => message as T);
    const theirs = reply<ScanResult>();
    const share = new Share(files, settings, false);
    const ours = share.scan(counter);
    const scans = [ours, await theirs];
    const { project, summaries } = inOneGo(() => combineScans(scans, keep));
    const order = [...ours.relevant, ...scans[1]!.relevant].sort((a, b) => a - b);
    const next = new Int32Array(new SharedArrayBuffer(4));
    const rest = reply<CheckResult>();
    worker.postMessage({ order, next, project });
    const checked = [share.check(order, next, project), await rest];
    return {
      parts: [...scans, ...checked],
      generated: ours.generated + scans[1]!.generated,
      findings: checked.flatMap((part) => part.findings),
      project,
      summaries,
    };
  } finally {
    await worker.terminate();
  }
}
