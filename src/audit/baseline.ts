import { UserError } from "../base/errors.ts";
import type { ReportedFinding } from "./report.ts";

/** Findings that were there when the baseline was taken, by fingerprint: old code keeps quiet, new code does not. */
export function writeBaseline(findings: readonly ReportedFinding[]): string {
  const entries = findings.map(({ fingerprint, rule, path }) => ({ rule, path, fingerprint }));
  return `${JSON.stringify({ version: 1, findings: entries }, null, 2)}\n`;
}

export function withoutBaseline(
  findings: readonly ReportedFinding[],
  text: string,
  where: string,
): ReportedFinding[] {
  let known: Set<string>;
  try {
    const data = JSON.parse(text) as { version: number; findings: { fingerprint: string }[] };
    if (data.version !== 1) throw new Error("version");
    known = new Set(data.findings.map(({ fingerprint }) => fingerprint));
  } catch {
    throw new UserError(`${where} is not a baseline file`, "make one with --write-baseline FILE");
  }
  return findings.filter(({ fingerprint }) => !known.has(fingerprint));
}
