import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTwoFilesPatch } from "diff";
import { NotebookJson } from "../python/notebook-json.ts";
import { decode, encode } from "../python/source.ts";
import { audit } from "./audit.ts";
import type { Audit } from "./audit.ts";
import { reason } from "./discover.ts";
import { fixText } from "./fix.ts";
import type { Grades } from "./fix.ts";
import { Layout } from "./layout.ts";
import type { Diagnostic, ReportedFinding } from "./report.ts";
import { check } from "./session.ts";
import type { Settings } from "./settings.ts";
import { readSource } from "./source.ts";

/** What is mended in one file may show something in another; this many rounds are enough for anything seen. */
const MAX_ROUNDS = 4;

/** Audits and mends until nothing fixable is left: a loader that pins from now on has copies elsewhere that could overlap. */
export async function mendAll(
  paths: readonly string[],
  root: string,
  settings: Settings,
  grades: Grades,
): Promise<Audit> {
  const fixes = new Map<string, number>();
  for (let round = 1; ; round++) {
    const mended = mend(await audit(paths, root, settings), grades, settings, false);
    for (const one of mended.fixed) fixes.set(one.path, (fixes.get(one.path) ?? 0) + one.fixes);
    if (mended.fixed.length === 0 || round === MAX_ROUNDS)
      return { ...mended, fixed: [...fixes].map(([path, count]) => ({ path, fixes: count })) };
  }
}

/** Mends every file that has fixes of these grades, on disk or (with `dry`) as a diff only. */
export function mend(given: Audit, grades: Grades, settings: Settings, dry: boolean): Audit {
  const findings = new Map<string, readonly ReportedFinding[]>();
  const diagnostics: Diagnostic[] = [...given.diagnostics];
  const fixed: { path: string; fixes: number }[] = [];
  const layout = new Layout(given.found.map(({ path }) => path));
  let diff = "";
  for (const finding of given.findings)
    findings.set(finding.path, [...(findings.get(finding.path) ?? []), finding]);
  for (const { path, absolute } of given.found) {
    if (!findings.get(path)?.some(({ fix }) => fix && grades.has(fix.grade))) continue;
    const outcome = mendFile(path, absolute, grades, given, layout, settings, dry);
    if (typeof outcome === "string")
      diagnostics.push({ path, line: null, message: outcome, level: "warning" });
    else {
      diff += outcome.diff;
      fixed.push({ path, fixes: outcome.applied });
      if (!dry) findings.set(path, outcome.findings);
    }
  }
  return {
    ...given,
    findings: [...findings.values()].flat(),
    diagnostics,
    fixed: dry ? [] : fixed,
    diff: dry ? diff : null,
  };
}

interface Mended {
  readonly applied: number;
  readonly findings: readonly ReportedFinding[];
  readonly diff: string;
}

function mendFile(
  path: string,
  absolute: string,
  grades: Grades,
  { project }: Audit,
  layout: Layout,
  settings: Settings,
  dry: boolean,
): Mended | string {
  try {
    const decoded = decode(readFileSync(absolute));
    if (typeof decoded === "string") return decoded;
    const first = readSource(path, decoded.text, layout);
    if (first === null || typeof first === "string") return "changed while it was audited; left as it was";
    const result = fixText(decoded.text, grades, (candidate) => {
      const source = readSource(path, candidate, layout);
      if (source === null || typeof source === "string")
        return { findings: [], broken: source === null ? 0 : Infinity };
      const found = check(source, project, settings);
      const notebook = source.kind === "python" ? source.notebook : null;
      return {
        findings: notebook ? inJson(found, new NotebookJson(candidate, notebook)) : found,
        broken: source.kind === "python" ? source.file.tree.errors.length : 0,
      };
    });
    if (typeof result === "string") return result;
    if (result.applied === 0) return "the fixes would change a cell's magic; left as it was";
    const after = result.text;
    if (!dry) writeAtomically(absolute, encode(decoded, after));
    const again = readSource(path, after, layout);
    const findings = again && typeof again !== "string" ? check(again, project, settings) : [];
    return {
      applied: result.applied,
      findings,
      diff: dry
        ? createTwoFilesPatch(`a/${path}`, `b/${path}`, decoded.text, after).replace(/^=+\n/, "")
        : "",
    };
  } catch (error) {
    return reason(error);
  }
}

/** With fixes that edit the notebook's JSON, where they can. */
const inJson = (findings: readonly ReportedFinding[], json: NotebookJson): ReportedFinding[] =>
  findings.map((finding) => {
    const edits = finding.fix && json.changes(finding.fix.edits);
    return { ...finding, fix: edits && { ...finding.fix!, edits } };
  });

/** Whoever reads the file meanwhile sees the old text or the new one, never half of each. A link stays one. */
function writeAtomically(given: string, bytes: Uint8Array): void {
  const path = realpathSync.native(given);
  const temporary = join(dirname(path), `.plimsoll-${randomBytes(6).toString("hex")}`);
  try {
    writeFileSync(temporary, bytes, { mode: statSync(path).mode & 0o7777 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
