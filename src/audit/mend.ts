import { readFileSync } from "node:fs";
import { createTwoFilesPatch } from "diff";
import { NotebookJson } from "../python/notebook-json.ts";
import { decode, encode } from "../python/source.ts";
import type { Decoded } from "../python/source.ts";
import { audit, ofText } from "./audit.ts";
import type { Audit } from "./audit.ts";
import { reason } from "./discover.ts";
import { fixText } from "./fix.ts";
import type { Grades } from "./fix.ts";
import { Layout } from "./layout.ts";
import type { Diagnostic, ReportedFinding } from "./report.ts";
import { check } from "./session.ts";
import type { Settings } from "./settings.ts";
import { readSource } from "./source.ts";
import { writeAtomically } from "./write.ts";

/** What is mended in one file may show something in another; this many rounds are enough for anything seen. */
const MAX_ROUNDS = 4;

/** What is to be mended. */
export interface Wanted {
  readonly grades: Grades;
  /** Findings that are left alone, such as those of a baseline. */
  readonly spared: (finding: ReportedFinding) => boolean;
}

/** Audits and mends until nothing fixable is left: a loader that pins from now on has copies elsewhere that could overlap. */
export async function mendAll(
  paths: readonly string[],
  root: string,
  settings: Settings,
  wanted: Wanted,
): Promise<Audit> {
  const fixes = new Map<string, number>();
  for (let round = 1; ; round++) {
    const mended = mend(await audit(paths, root, settings), wanted, settings, false);
    for (const one of mended.fixed) fixes.set(one.path, (fixes.get(one.path) ?? 0) + one.fixes);
    if (mended.fixed.length === 0 || round === MAX_ROUNDS)
      return { ...mended, fixed: [...fixes].map(([path, count]) => ({ path, fixes: count })) };
  }
}

/** The same of a text that comes from elsewhere, and goes back there. */
export function mendText(
  path: string,
  given: Decoded,
  settings: Settings,
  wanted: Wanted,
): { readonly report: Audit; readonly text: Uint8Array } {
  let { text } = given;
  let fixes = 0;
  for (let round = 1; ; round++) {
    const report = ofText(path, text, settings);
    const outcome = report.findings.some((one) => isWanted(one, wanted))
      ? mended(path, { ...given, text }, wanted, report, new Layout([path]), settings)
      : null;
    const why = typeof outcome === "string" ? outcome : (outcome?.left ?? null);
    if (typeof outcome !== "string" && outcome !== null) {
      text = outcome.text;
      fixes += outcome.applied;
      // Of what is left out nothing more is to be had.
      if (why === null && round < MAX_ROUNDS) continue;
    }
    const said: Diagnostic[] = why === null ? [] : [{ path, line: null, message: why, level: "warning" }];
    return {
      report: {
        ...ofText(path, text, settings),
        diagnostics: [...report.diagnostics, ...said],
        fixed: fixes > 0 ? [{ path, fixes }] : [],
        diff: patch(path, given, text),
      },
      text: encode(given, text),
    };
  }
}

/** Mends every file that has such fixes, on disk or (with `dry`) as a diff only. */
export function mend(given: Audit, wanted: Wanted, settings: Settings, dry: boolean): Audit {
  const findings = new Map<string, readonly ReportedFinding[]>();
  const diagnostics: Diagnostic[] = [...given.diagnostics];
  const fixed: { path: string; fixes: number }[] = [];
  const layout = new Layout(given.found.map(({ path }) => path));
  const diffs: Buffer[] = [];
  for (const finding of given.findings)
    findings.set(finding.path, [...(findings.get(finding.path) ?? []), finding]);
  for (const { path, absolute } of given.found) {
    if (!findings.get(path)?.some((one) => isWanted(one, wanted))) continue;
    const outcome = mendFile(path, absolute, wanted, given, layout, settings, dry);
    if (outcome === null) continue;
    if (typeof outcome === "string")
      diagnostics.push({ path, line: null, message: outcome, level: "warning" });
    else {
      diffs.push(outcome.diff);
      if (outcome.left !== null)
        diagnostics.push({ path, line: null, message: outcome.left, level: "warning" });
      fixed.push({ path, fixes: outcome.applied });
      if (!dry) findings.set(path, outcome.findings);
    }
  }
  return {
    ...given,
    findings: [...findings.values()].flat(),
    diagnostics,
    fixed: dry ? [] : fixed,
    diff: dry ? Buffer.concat(diffs) : null,
  };
}

const isWanted = (finding: ReportedFinding, { grades, spared }: Wanted): boolean =>
  finding.fix !== null && grades.has(finding.fix.grade) && !spared(finding);

interface Mended {
  readonly applied: number;
  readonly text: string;
  readonly findings: readonly ReportedFinding[];
  /** Why some fixes were left out; null where none were. */
  readonly left: string | null;
}

function mendFile(
  path: string,
  absolute: string,
  wanted: Wanted,
  given: Audit,
  layout: Layout,
  settings: Settings,
  dry: boolean,
): (Mended & { readonly diff: Buffer }) | string | null {
  try {
    const decoded = decode(readFileSync(absolute));
    if (typeof decoded === "string") return decoded;
    const outcome = mended(path, decoded, wanted, given, layout, settings);
    if (outcome === null || typeof outcome === "string") return outcome;
    if (!dry) writeAtomically(absolute, encode(decoded, outcome.text));
    return { ...outcome, diff: dry ? patch(path, decoded, outcome.text) : Buffer.alloc(0) };
  } catch (error) {
    return reason(error);
  }
}

/** Null where nothing is to be mended. */
function mended(
  path: string,
  { text }: Decoded,
  wanted: Wanted,
  { project }: Pick<Audit, "project">,
  layout: Layout,
  settings: Settings,
): Mended | string | null {
  const first = readSource(path, text, layout);
  if (first === null || typeof first === "string") return "changed while it was audited; left as it was";
  const judged = (candidate: string): ReturnType<typeof readSource> => readSource(path, candidate, layout);
  const result = fixText(text, wanted.grades, (candidate) => {
    const source = judged(candidate);
    if (source === null || typeof source === "string")
      return { findings: [], broken: source === null ? 0 : Infinity };
    const found = check(source, project, settings).map((one) =>
      isWanted(one, wanted) ? one : { ...one, fix: null },
    );
    const notebook = source.kind === "python" ? source.notebook : null;
    return {
      findings: notebook ? inJson(found, new NotebookJson(candidate, notebook)) : found,
      broken: source.kind === "python" ? source.file.tree.errors.length : 0,
    };
  });
  if (typeof result === "string") return result;
  if (result.applied === 0)
    return check(first, project, settings).some((one) => isWanted(one, wanted))
      ? "the fixes would change a cell's magic; left as it was"
      : null;
  const again = judged(result.text);
  const findings = again && typeof again !== "string" ? check(again, project, settings) : [];
  return { applied: result.applied, text: result.text, findings, left: result.left };
}

/** As `git apply` takes it: the lines in the file's own encoding. */
function patch(path: string, { text, encoding, bom }: Decoded, after: string): Buffer {
  if (after === text) return Buffer.alloc(0);
  const mark = bom ? "\uFEFF" : "";
  const whole = createTwoFilesPatch(`a/${path}`, `b/${path}`, mark + text, mark + after).replace(/^=+\n/, "");
  const hunks = whole.indexOf("\n@@") + 1;
  return Buffer.concat([Buffer.from(whole.slice(0, hunks)), Buffer.from(whole.slice(hunks), encoding)]);
}

/** With fixes that edit the notebook's JSON, where they can. */
const inJson = (findings: readonly ReportedFinding[], json: NotebookJson): ReportedFinding[] =>
  findings.map((finding) => {
    const edits = finding.fix && json.changes(finding.fix.edits);
    return { ...finding, fix: edits && { ...finding.fix!, edits } };
  });
