import type { AuditReport } from "../../audit/report.ts";

const LEVELS = { error: "error", warning: "warning", note: "notice" } as const;
const data = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** Workflow commands: annotations on the lines of a pull request. */
export function auditGithub({ findings, diagnostics }: AuditReport): string {
  const lines = findings.map(({ severity, path, line, column, endLine, endColumn, cell, rule, message }) => {
    // A notebook's lines are not lines of the file that the annotation would point into.
    const place =
      cell === undefined ? `,line=${line},col=${column},endLine=${endLine},endColumn=${endColumn}` : "";
    return `::${LEVELS[severity]} file=${property(path)}${place},title=${property(`plimsoll ${rule}`)}::${data(`${cell === undefined ? "" : `cell ${cell}, line ${line}: `}${rule} ${message}`)}\n`;
  });
  for (const { path, line, message, level } of diagnostics)
    lines.push(
      `::${level} file=${property(path)}${line === null ? "" : `,line=${line}`},title=plimsoll::${data(message)}\n`,
    );
  return lines.join("");
}
