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

type Reader = (text: string) => { readonly findings: readonly ReportedFinding[]; readonly broken: number };

interface Fixed {
  readonly text: string;
  readonly applied: number;
  readonly findings: readonly ReportedFinding[];
}

/** Fixing one thing may uncover another; this many rounds are enough for anything seen. */
const MAX_ROUNDS = 8;

/**
 * Fixes a text until nothing fixable is left. `audit` reads a candidate: its findings and its syntax errors.
 * Null with a reason when the outcome would be worse than what was there.
 */
export function fixText(text: string, grades: Grades, audit: Reader): Fixed | string {
  const whole = attempt(text, grades, audit, null);
  if (typeof whole !== "string") return whole;
  // One rule's fixes may be what stands in the way of the others'.
  const rules = new Set(
    audit(text).findings.flatMap(({ rule, fix }) => (fix && grades.has(fix.grade) ? [rule] : [])),
  );
  if (rules.size > 1)
    for (const rule of rules) {
      const part = attempt(text, grades, audit, rule);
      if (typeof part !== "string" && part.applied > 0) return part;
    }
  return whole;
}

function attempt(text: string, grades: Grades, reader: Reader, without: string | null): Fixed | string {
  const audit = (candidate: string): ReturnType<Reader> => {
    const { findings, broken } = reader(candidate);
    return without === null
      ? { findings, broken }
      : { findings: findings.map((one) => (one.rule === without ? { ...one, fix: null } : one)), broken };
  };
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
      if (next.applied === 0) return "a fix would break its syntax; left as it was";
      read = audit(next.text);
    }
    current = next.text;
    applied += next.applied;
    now = read;
  }
  const count = (findings: readonly ReportedFinding[], rule: string): number =>
    findings.filter((finding) => finding.rule === rule && !finding.likely).length;
  for (const { rule } of now.findings)
    if (count(now.findings, rule) > count(before.findings, rule))
      return `the fixes would cause new ${rule} findings; left as it was`;
  if (now.findings.some(({ fix }) => fix && grades.has(fix.grade)))
    return "the fixes do not settle; left as it was";
  return { text: current, applied, findings: now.findings };
}
