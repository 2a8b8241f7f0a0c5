import type { AuditReport, ReportedFinding } from "../../audit/report.ts";
import type { RuleMeta, Severity } from "../../audit/rule.ts";

/** A rule with its documentation page, Markdown as in docs/rules. */
export interface RulePage {
  readonly meta: RuleMeta;
  readonly help: string;
}

/** All findings of one rule, with what its page says. */
export interface Issue {
  readonly meta: RuleMeta;
  /** The worst among its findings. */
  readonly severity: Severity;
  readonly findings: readonly ReportedFinding[];
  /** Why it matters and what it costs, in Markdown. */
  readonly impact: string;
  readonly remedy: string;
}

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, note: 2 };
const EASE = { safe: 0, unsafe: 1, none: 2 } as const;

/** What to mend, in the order of repair: the worst first, and among equals what mends itself. */
export function issues({ findings }: AuditReport, pages: readonly RulePage[]): Issue[] {
  const byRule = new Map<string, ReportedFinding[]>();
  for (const finding of findings) byRule.set(finding.rule, [...(byRule.get(finding.rule) ?? []), finding]);
  return pages
    .flatMap(({ meta, help }): Issue[] => {
      const own = byRule.get(meta.code);
      if (!own) return [];
      const severity = own.map((finding) => finding.severity).sort((a, b) => RANK[a] - RANK[b])[0]!;
      const impact = [section(help, "Why."), section(help, "Cost.")].filter((text) => text !== "");
      return [{ meta, severity, findings: own, impact: impact.join("\n\n"), remedy: section(help, "Fix.") }];
    })
    .sort(
      (a, b) =>
        RANK[a.severity] - RANK[b.severity] ||
        EASE[ease(a)] - EASE[ease(b)] ||
        b.findings.length - a.findings.length,
    );
}

/** The best a user can hope for: all of it by --fix, some of it, or by hand. */
export function ease({ findings }: Issue): keyof typeof EASE {
  const grades = new Set(findings.map(({ fix }) => fix?.grade ?? "none"));
  return grades.has("safe") ? "safe" : grades.has("unsafe") ? "unsafe" : "none";
}

export const BY: Readonly<Record<ReturnType<typeof ease>, string>> = {
  safe: "--fix",
  unsafe: "--fix --unsafe-fixes",
  none: "by hand",
};

/** The paragraphs after `**Why.**`, up to the next such heading. */
function section(page: string, title: string): string {
  const start = page.indexOf(`**${title}**`);
  if (start < 0) return "";
  const text = page.slice(start + title.length + 4);
  const end = /\n\*\*[A-Z]/.exec(text)?.index ?? text.length;
  return text.slice(0, end).trim();
}

export function place({ path, line, endLine, cell }: ReportedFinding): string {
  const lines = endLine > line ? `${line}-${endLine}` : `${line}`;
  return cell === undefined ? `${path}:${lines}` : `${path}, cell ${cell}, line ${lines}`;
}

/** The lines of the frame before and after the fix; null where the fix reaches beyond the frame, or there is none. */
export function change({
  fix,
  frame,
}: ReportedFinding): { readonly before: readonly string[]; readonly after: readonly string[] } | null {
  if (!fix) return null;
  const inside = fix.edits.filter((edit) => frame.some(({ line }) => line === edit.line));
  if (inside.length === 0 || inside.some((edit) => edit.line !== edit.endLine)) return null;
  const touched = frame.filter(({ line }) => inside.some((edit) => edit.line === line));
  const after = touched.map(({ line, text }) => {
    const edits = inside.filter((edit) => edit.line === line).sort((a, b) => b.column - a.column);
    return edits.reduce(
      (now, edit) => now.slice(0, edit.column - 1) + edit.text + now.slice(edit.endColumn - 1),
      text,
    );
  });
  return { before: touched.map(({ text }) => text), after: after.flatMap((text) => text.split(/\r?\n/)) };
}

export function counts({ findings }: AuditReport): string {
  const count = (severity: Severity): string => {
    const number = findings.filter((finding) => finding.severity === severity).length;
    return `${number} ${severity}${number === 1 ? "" : "s"}`;
  };
  return `${count("error")}, ${count("warning")}, ${count("note")}`;
}

/** How to see that the repair was one: each step can fail. */
export function validation(found: readonly Issue[]): string[] {
  const steps = ["Audit again: `plimsoll audit` exits 0, or shows only what was left on purpose."];
  if (found.length === 0) return steps;
  steps.push(
    "Train 20 steps with a fixed seed before and after: the losses are the same, to the last digit where only safe fixes went in.",
    "Watch the memory: `plimsoll run -- python …` names what each step leaves behind; after the repair it names nothing.",
  );
  if (found.some(({ severity }) => severity !== "note"))
    steps.push("Time 100 steps before and after, without the first ten.");
  return steps;
}
