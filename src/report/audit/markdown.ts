import type { AuditReport, ReportedFinding } from "../../audit/report.ts";
import { BY, change, counts, ease, issues, place, validation } from "./repair.ts";
import type { Issue, RulePage } from "./repair.ts";

/** Places shown with their code; further ones are listed. */
const SHOWN = 3;

/** A report to hand on: each issue with its places, impact and fix, a table, the order of repair, how to check it. */
export function auditMarkdown(report: AuditReport, pages: readonly RulePage[]): string {
  const found = issues(report, pages);
  const parts = [
    "# Training code audit",
    `**Scope**: ${report.files} ${report.files === 1 ? "file" : "files"}, ${(report.bytes / 1e6).toFixed(1)} MB${report.generated > 0 ? `, ${report.generated} generated, not judged` : ""}  \n**Found**: ${counts(report)}`,
  ];
  if (found.length > 0) parts.push("## Issues", ...found.map(issue));
  if (report.diagnostics.length > 0)
    parts.push(
      "## Not audited, or only in part",
      report.diagnostics
        .map(
          ({ path, line, message }) =>
            `- ${code(line === null ? path : `${path}:${line}`)}: ${plain(message)}`,
        )
        .join("\n"),
    );
  if (found.length > 0) parts.push("## Summary", table(found), "## Order of repair", order(found));
  parts.push(
    "## Validation",
    validation(found)
      .map((step, at) => `${at + 1}. ${step}`)
      .join("\n"),
  );
  return `${parts.join("\n\n")}\n`;
}

function issue(one: Issue, at: number): string {
  const { meta, severity, findings, impact, remedy } = one;
  const more = findings.slice(SHOWN);
  return [
    `### ${at + 1}. ${severity.toUpperCase()}: ${meta.summary} (${meta.code})`,
    ...findings.slice(0, SHOWN).map(shown),
    ...(more.length > 0 ? [`**Also**: ${more.map((finding) => code(place(finding))).join(", ")}`] : []),
    ...(impact === "" ? [] : [`**Impact**: ${impact}`]),
    ...(remedy === ""
      ? []
      : [`**Fix** (${ease(one) === "none" ? BY.none : code(BY[ease(one)])}): ${remedy}`]),
  ].join("\n\n");
}

function shown(finding: ReportedFinding): string {
  const fixed = change(finding);
  const lines = fixed
    ? [...fixed.before.map((line) => `-${line}`), ...fixed.after.map((line) => `+${line}`)]
    : finding.frame.map(({ text }) => text);
  const text = lines.join("\n");
  // A fence longer than any in the code: a file may hold Markdown in a string.
  const fence = "`".repeat(
    Math.max(3, 1 + Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))),
  );
  return `**Place**: ${code(place(finding))}: ${plain(finding.message)}\n\n${fence}${fixed ? "diff" : "python"}\n${text}\n${fence}`;
}

function table(found: readonly Issue[]): string {
  const rows = found.map(
    (one, at) =>
      `| ${at + 1} | ${one.meta.code} ${one.meta.name} | ${one.severity} | ${one.findings.length} | ${ease(one) === "none" ? BY.none : code(BY[ease(one)])} |`,
  );
  return ["| # | rule | severity | places | mended |", "|---|---|---|---|---|", ...rows].join("\n");
}

function order(found: readonly Issue[]): string {
  const safe = found.filter((one) => ease(one) === "safe").length;
  const first =
    safe > 0
      ? `\`plimsoll audit --diff\` shows what \`--fix\` would change, ${safe === 1 ? "one issue" : `${safe} issues`} in part or whole.\n\n`
      : "";
  return (
    first +
    found
      .map(
        (one, at) =>
          `${at + 1}. **${one.meta.code} ${one.meta.name}**: ${one.findings.length} ${one.findings.length === 1 ? "place" : "places"}, ${one.severity}, ${ease(one) === "none" ? BY.none : code(BY[ease(one)])}`,
      )
      .join("\n")
  );
}

function code(text: string): string {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** Messages quote the audited code between backticks; everything else in them is text. */
function plain(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replace(/[\\*_<>[\]|]/g, "\\$&")))
    .join("")
    .replaceAll("\n", " ");
}
