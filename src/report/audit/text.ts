import type { AuditReport, Diagnostic, ReportedFinding } from "../../audit/report.ts";
import type { Severity } from "../../audit/rule.ts";

const COLORS: Readonly<Record<Severity, number>> = { error: 31, warning: 33, note: 36 };

/** Findings with the code they stand on, then a line that counts. */
export function auditText(report: AuditReport, color: boolean): string {
  const paint = (code: number, text: string): string => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const lines: string[] = [];
  for (const finding of report.findings) lines.push(...framed(finding, paint), "");
  for (const diagnostic of report.diagnostics)
    lines.push(
      `${paint(diagnostic.level === "error" ? 31 : 33, diagnostic.level)}: ${diagnosticLine(diagnostic)}`,
    );
  if (report.diagnostics.length > 0) lines.push("");
  for (const { path, fixes } of report.fixed)
    lines.push(`fixed ${plain(path)}: ${plural(fixes, "fix", "fixes")}`);
  lines.push(summaryLine(report));
  return `${lines.join("\n")}\n`;
}

function diagnosticLine({ path, line, message }: Diagnostic): string {
  return `${plain(path)}${line === null ? "" : `:${line}`}: ${plain(message)}`;
}

function where({ path, line, column, cell }: ReportedFinding): string {
  return `${plain(path)}:${cell === undefined ? "" : `cell ${cell}:`}${line}:${column}`;
}

function framed(finding: ReportedFinding, paint: (code: number, text: string) => string): string[] {
  const { severity, rule, message, frame, fix } = finding;
  const width = String(frame[frame.length - 1]?.line ?? 0).length;
  const lines = [
    `${paint(1, where(finding))}: ${paint(COLORS[severity], severity)} ${paint(1, rule)} ${message}`,
  ];
  for (const { line, text } of frame) {
    lines.push(`${paint(2, `${String(line).padStart(width)} |`)} ${text.replaceAll("\t", " ")}`.trimEnd());
    if (line < finding.line || line > finding.endLine) continue;
    const from = line === finding.line ? finding.column - 1 : text.length - text.trimStart().length;
    const to = line === finding.endLine ? finding.endColumn - 1 : text.length;
    if (finding.line === line || finding.endLine === line)
      lines.push(
        `${paint(2, `${" ".repeat(width)} |`)} ${" ".repeat(from)}${paint(COLORS[severity], "^".repeat(Math.max(1, to - from)))}`,
      );
  }
  if (fix)
    lines.push(
      `${" ".repeat(width)} ${paint(2, "=")} ${fix.title} (${fix.grade === "safe" ? "--fix" : "--fix --unsafe-fixes"})`,
    );
  return lines;
}

function summaryLine({ findings, files, generated }: AuditReport): string {
  const count = (severity: Severity): number =>
    findings.filter((finding) => finding.severity === severity).length;
  const among =
    plural(files, "file", "files") +
    (generated > 0 ? ` (${generated} generated, not judged: --generated)` : "");
  if (findings.length === 0) return `No findings in ${among}.`;
  const parts = [
    plural(count("error"), "error", "errors"),
    plural(count("warning"), "warning", "warnings"),
    plural(count("note"), "note", "notes"),
  ];
  const safe = findings.filter(({ fix }) => fix?.grade === "safe").length;
  const unsafe = findings.filter(({ fix }) => fix?.grade === "unsafe").length;
  const fixable =
    safe + unsafe > 0 ? ` ${safe} can be fixed with --fix, ${unsafe} more with --unsafe-fixes.` : "";
  return `${parts.join(", ")} in ${among}.${fixable}`;
}

/** Findings by rule, most frequent first. */
export function statisticsText({ findings }: AuditReport): string {
  // A rule speaks as loud as it can tell: its warnings and its notes are counted apart.
  const groups = new Map<string, { count: number; rule: string; name: string; severity: Severity }>();
  for (const { rule, name, severity } of findings) {
    const key = `${rule} ${severity}`;
    groups.set(key, { count: (groups.get(key)?.count ?? 0) + 1, rule, name, severity });
  }
  return [...groups.values()]
    .sort((a, b) => b.count - a.count || a.rule.localeCompare(b.rule))
    .map(
      ({ count, rule, name, severity }) =>
        `${String(count).padStart(6)}  ${rule}  ${severity.padEnd(7)}  ${name}\n`,
    )
    .join("");
}

/** What would move the cursor, colour the rest or end the line, written out. */
const plain = (text: string): string =>
  text.replace(/(?!\t)\p{Cc}/gu, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
