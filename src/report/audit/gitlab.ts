import type { AuditReport } from "../../audit/report.ts";

const SEVERITIES = { error: "critical", warning: "major", note: "info" } as const;

/** GitLab's Code Quality report: https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format */
export function auditGitlab({ findings, diagnostics }: AuditReport): string {
  /** Of one file there may be several without a line. */
  const seen = new Map<string, number>();
  const unique = (of: string): string => {
    const before = seen.get(of) ?? 0;
    seen.set(of, before + 1);
    return before === 0 ? of : `${of}:${before}`;
  };
  const entries = [
    ...findings.map(({ rule, severity, path, line, endLine, cell, message, fingerprint }) => ({
      description: `${rule} ${cell === undefined ? "" : `cell ${cell}, line ${line}: `}${message}`,
      check_name: rule,
      fingerprint,
      severity: SEVERITIES[severity],
      // A notebook's lines count from its cells, not from the file that GitLab shows.
      location: { path, lines: cell === undefined ? { begin: line, end: endLine } : { begin: 1 } },
    })),
    ...diagnostics.map(({ path, line, message, level }) => ({
      description: message,
      check_name: "plimsoll",
      fingerprint: unique(`plimsoll:${path}:${line ?? 0}`),
      severity: SEVERITIES[level],
      location: { path, lines: { begin: line ?? 1 } },
    })),
  ];
  return `${JSON.stringify(entries, null, 2)}\n`;
}
