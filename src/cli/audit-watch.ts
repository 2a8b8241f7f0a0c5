import { once } from "node:events";
import { existsSync, readFileSync, statSync, watch as watchFiles } from "node:fs";
import { resolve } from "node:path";
import { auditForEditing } from "../audit/audit.ts";
import { discover } from "../audit/discover.ts";
import type { ReportedFinding } from "../audit/report.ts";
import type { Settings } from "../audit/settings.ts";
import { Workspace } from "../audit/workspace.ts";
import { decode } from "../python/source.ts";
import { auditText } from "../report/audit/text.ts";
import type { Io } from "./command.ts";
import type { ExitCode } from "./exit.ts";

/** An editor writes a file in several steps: they are one change. */
const QUIET_MS = 20;

/** Audits the tree, then each file again when it changes, until it is interrupted. */
export async function watch(
  paths: readonly string[],
  root: string,
  settings: Settings,
  io: Io,
): Promise<ExitCode> {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let take: (() => void) | null = null;
  // Before the first audit: what changes meanwhile is then looked at again.
  const watchers = paths
    .filter((path) => existsSync(path))
    .map((path) => {
      const folder = statSync(path).isDirectory();
      return watchFiles(path, { recursive: folder }, (_, name) => {
        changed.add(folder && name !== null ? resolve(path, name) : resolve(path));
        if (take) timer ??= setTimeout(take, QUIET_MS);
      });
    });
  const first = await auditForEditing(paths, root, settings);
  io.out(auditText(first, io.color));
  const workspace = new Workspace(first, settings);
  let places = new Map(first.found.map(({ absolute, path }) => [absolute, path]));
  take = () => {
    timer = null;
    const start = performance.now();
    const now = [...changed];
    changed.clear();
    const judge = (absolute: string, path: string): void => {
      const text = existsSync(absolute) ? decode(readFileSync(absolute)) : null;
      if (text === null) workspace.remove(path);
      else if (typeof text !== "string") workspace.update(path, text.text);
      show(path);
    };
    const show = (path: string): void => {
      const { findings, diagnostics } = workspace.of(path);
      io.out(auditText({ ...ONE_FILE, findings, diagnostics }, io.color));
      io.out(`${path} in ${Math.round(performance.now() - start)} ms\n\n`);
    };
    // A file that was not there before: whether it belongs to the tree is for the discovery to say.
    if (now.some((file) => !places.has(file)))
      places = new Map(
        discover(paths, root, settings.exclude).files.map(({ absolute, path }) => [absolute, path]),
      );
    for (const absolute of now) {
      const path = places.get(absolute);
      if (path !== undefined && (existsSync(absolute) || workspace.has(path))) judge(absolute, path);
    }
    // What the change means for the others, after it has been shown.
    setImmediate(() => {
      const at = new Map([...places].map(([absolute, path]) => [path, absolute]));
      for (const path of workspace.settle()) {
        const absolute = at.get(path);
        const before = JSON.stringify(workspace.of(path).findings.map(identity));
        const text = absolute !== undefined && existsSync(absolute) ? decode(readFileSync(absolute)) : null;
        if (text === null || typeof text === "string") continue;
        const { findings } = workspace.update(path, text.text);
        if (JSON.stringify(findings.map(identity)) !== before) show(path);
      }
    });
  };
  if (changed.size > 0) take();
  io.err("watching; Ctrl-C ends it\n");
  await once(process, "SIGINT");
  for (const watcher of watchers) watcher.close();
  return 0;
}

const ONE_FILE = { files: 1, bytes: 0, generated: 0, fixed: [], diff: null };

const identity = ({ rule, line, message }: ReportedFinding): unknown => [rule, line, message];
