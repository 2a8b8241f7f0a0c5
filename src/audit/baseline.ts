import { dirname, relative, resolve, sep } from "node:path";
import { UserError } from "../base/errors.ts";
import type { ReportedFinding } from "./report.ts";

/**
 * Findings that were there when the baseline was taken: old code keeps quiet, new code does not. Their paths are relative
 * to the baseline's own folder, so that it does not matter from where it is used.
 */
export function writeBaseline(findings: readonly ReportedFinding[], root: string, file: string): string {
  const folder = dirname(resolve(file));
  const entries = findings.map(({ fingerprint, anchor, rule, path }) => ({
    rule,
    path: relative(folder, resolve(root, path)).split(sep).join("/"),
    fingerprint,
    anchor,
  }));
  return `${JSON.stringify({ version: 1, findings: entries }, null, 2)}\n`;
}

/** Whether a finding is one of them. By its fingerprint alone where the baseline has been moved, or is an old one. */
export function readBaseline(
  text: string,
  root: string,
  file: string,
): (finding: ReportedFinding) => boolean {
  const folder = dirname(resolve(file));
  const known = new Set<string>();
  try {
    const data = JSON.parse(text) as {
      version: number;
      findings: { fingerprint: string; path?: string; anchor?: string }[];
    };
    if (data.version !== 1) throw new Error("version");
    for (const { fingerprint, path, anchor } of data.findings) {
      known.add(fingerprint);
      if (path !== undefined && anchor !== undefined) known.add(`${resolve(folder, path)}\0${anchor}`);
    }
  } catch {
    throw new UserError(`${file} is not a baseline file`, "make one with --write-baseline FILE");
  }
  return ({ fingerprint, path, anchor }) =>
    known.has(fingerprint) || known.has(`${resolve(root, path)}\0${anchor}`);
}
