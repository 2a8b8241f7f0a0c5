import type { Edit } from "./rule.ts";
import type { ReportedFinding, ReportedFix } from "./report.ts";

export type Grades = ReadonlySet<ReportedFix["grade"]>;

/** Applies every fix that no earlier one touches; identical edits (an import two fixes need) go in once. */
function applyFixes(
  text: string,
  findings: readonly ReportedFinding[],
  grades: Grades,
): { readonly text: string; readonly applied: number } {
  const taken: Edit[] = [];
  let applied = 0;
  for (const { fix } of findings) {
    if (!fix || !grades.has(fix.grade)) continue;
    const fresh = fix.edits.filter((edit) => !taken.some((other) => same(edit, other)));
    if (fresh.some((edit) => taken.some((other) => clash(edit, other)))) continue;
    taken.push(...fresh);
    applied++;
  }
  // Two insertions at one place keep the order in which they were asked for.
  const order = taken
    .map((edit, at) => ({ edit, at }))
    .sort((a, b) => a.edit.start - b.edit.start || a.at - b.at);
  let result = "";
  let from = 0;
  for (const { edit } of order) {
    result += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return { text: result + text.slice(from), applied };
}

const same = (a: Edit, b: Edit): boolean => a.start === b.start && a.end === b.end && a.text === b.text;
const clash = (a: Edit, b: Edit): boolean =>
  a.start === b.start && a.end === b.end ? true : a.start < b.end && b.start < a.end;

/** Fixes that are sound one by one may not be together: two deletions that leave a block empty. */
function together(
  text: string,
  findings: readonly ReportedFinding[],
  grades: Grades,
  sound: (candidate: string) => boolean,
): readonly ReportedFinding[] {
  const kept: ReportedFinding[] = [];
  for (const finding of findings)
    if (sound(applyFixes(text, [...kept, finding], grades).text)) kept.push(finding);
  return kept;
}

interface Read {
  readonly findings: readonly ReportedFinding[];
  readonly broken: number;
}

type Reader = (text: string) => Read;

interface Fixed {
  readonly text: string;
  readonly applied: number;
  readonly findings: readonly ReportedFinding[];
  /** Why some fixes were left out; null where none were. */
  readonly left: string | null;
}

/** Fixing one thing may uncover another; this many rounds are enough for anything seen. */
const MAX_ROUNDS = 8;

/** A file of hundreds of fixes of which many are bad is not tried for ever. */
const MAX_TRIALS = 64;

/**
 * Fixes a text until nothing fixable is left. `audit` reads a candidate: its findings and its syntax errors.
 * Null with a reason when the outcome would be worse than what was there.
 */
export function fixText(text: string, grades: Grades, audit: Reader): Fixed | string {
  const whole = attempt(text, grades, audit);
  if (typeof whole !== "string") return whole;
  // One fix that is bad, or two that are bad together, keep none of the others from being made.
  const part = apart(text, grades, audit, whole);
  return part.applied > 0 ? part : whole;
}

/** The fixes that are sound, by halves: each set of them is tried together with those that are known to be. */
function apart(text: string, grades: Grades, audit: Reader, why: string): Fixed {
  let current = text;
  let applied = 0;
  let trials = 0;
  let now = audit(text);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = now;
    let kept: readonly ReportedFinding[] = [];
    const add = (some: readonly ReportedFinding[]): void => {
      if (some.length === 0 || trials++ >= MAX_TRIALS) return;
      const together = [...kept, ...some];
      const candidate = applyFixes(current, together, grades);
      if (isBetter(before, audit(candidate.text), together, candidate.applied, grades)) {
        kept = together;
        return;
      }
      const half = some.length >> 1;
      if (half === 0) return;
      add(some.slice(0, half));
      add(some.slice(half));
    };
    add(before.findings.filter(({ fix }) => fix && grades.has(fix.grade)));
    if (kept.length === 0) break;
    const next = applyFixes(current, kept, grades);
    current = next.text;
    applied += next.applied;
    now = audit(current);
  }
  return { text: current, applied, findings: now.findings, left: why };
}

/** Nothing is broken, no rule finds more, and what was mended is not found again. */
function isBetter(
  before: Read,
  after: Read,
  mended: readonly ReportedFinding[],
  applied: number,
  grades: Grades,
): boolean {
  // Two that touch each other are not both made.
  if (applied < mended.length || after.broken > before.broken || moreFound(before, after) !== null)
    return false;
  const fixable = ({ findings }: Read, rule: string): number =>
    findings.filter((one) => one.rule === rule && one.fix && grades.has(one.fix.grade)).length;
  return [...new Set(mended.map(({ rule }) => rule))].every(
    (rule) =>
      fixable(after, rule) <= fixable(before, rule) - mended.filter((one) => one.rule === rule).length,
  );
}

/** The rule that finds more than before. */
function moreFound(before: Read, after: Read): string | null {
  const count = ({ findings }: Read, rule: string): number =>
    findings.filter((finding) => finding.rule === rule && !finding.likely).length;
  return after.findings.find(({ rule }) => count(after, rule) > count(before, rule))?.rule ?? null;
}

function attempt(text: string, grades: Grades, audit: Reader): Fixed | string {
  const before = audit(text);
  let now = before;
  let current = text;
  let applied = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    let next = applyFixes(current, now.findings, grades);
    if (next.applied === 0) break;
    let read = audit(next.text);
    if (read.broken > before.broken) {
      const sound = (candidate: string): boolean => audit(candidate).broken <= before.broken;
      next = applyFixes(current, together(current, now.findings, grades, sound), grades);
      if (next.applied === 0) return "a fix would break its syntax; left out";
      read = audit(next.text);
    }
    current = next.text;
    applied += next.applied;
    now = read;
  }
  const rule = moreFound(before, now);
  if (rule !== null) return `fixes would cause new ${rule} findings; left out`;
  if (now.findings.some(({ fix }) => fix && grades.has(fix.grade))) return "fixes do not settle; left out";
  return { text: current, applied, findings: now.findings, left: null };
}
