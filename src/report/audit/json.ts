import type { AuditReport } from "../../audit/report.ts";

/** The documented schema (docs/commands/audit.md). Code frames are for people, anchors for baselines. */
export function auditJson(report: AuditReport): string {
  const findings = report.findings.map(({ frame: _frame, anchor: _anchor, ...finding }) => finding);
  const { files, bytes, generated, diagnostics, fixed } = report;
  return `${JSON.stringify({ version: 1, files, bytes, generated, findings, diagnostics, fixed }, null, 2)}\n`;
}
