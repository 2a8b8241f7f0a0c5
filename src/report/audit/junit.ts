import type { AuditReport, ReportedFinding } from "../../audit/report.ts";

/** JUnit XML as CI systems read it: a suite a file, a failed case a finding; a file that could not be read is an error. */
export function auditJunit({ findings, diagnostics, files }: AuditReport): string {
  const byFile = new Map<string, string[]>();
  const add = (path: string, line: string): void => {
    byFile.set(path, [...(byFile.get(path) ?? []), line]);
  };
  for (const finding of findings)
    add(
      finding.path,
      `<testcase classname="${xml(finding.path)}" name="${xml(`${finding.rule} ${where(finding)}`)}"><failure type="${finding.severity}" message="${xml(finding.message)}">${xml(`${finding.path}:${where(finding)}: ${finding.rule} ${finding.message}`)}</failure></testcase>`,
    );
  const errors = new Map<string, number>();
  for (const { path, line, message } of diagnostics) {
    errors.set(path, (errors.get(path) ?? 0) + 1);
    add(
      path,
      `<testcase classname="${xml(path)}" name="${xml(`readable${line === null ? "" : ` ${line}`}`)}"><error type="plimsoll" message="${xml(message)}"/></testcase>`,
    );
  }
  const suites = [...byFile].map(
    ([path, cases]) =>
      `  <testsuite name="${xml(path)}" tests="${cases.length}" failures="${cases.length - (errors.get(path) ?? 0)}" errors="${errors.get(path) ?? 0}">\n${cases.map((line) => `    ${line}\n`).join("")}  </testsuite>\n`,
  );
  // CI systems take a report without a case for a broken one.
  if (suites.length === 0)
    suites.push(
      `  <testsuite name="plimsoll audit" tests="1" failures="0" errors="0">\n    <testcase classname="plimsoll" name="${files} files without findings"/>\n  </testsuite>\n`,
    );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="plimsoll audit" tests="${Math.max(1, findings.length + diagnostics.length)}" failures="${findings.length}" errors="${diagnostics.length}">\n${suites.join("")}</testsuites>\n`;
}

function where({ line, column, cell }: ReportedFinding): string {
  return cell === undefined ? `${line}:${column}` : `cell ${cell}:${line}:${column}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\t": "&#9;",
};

/** XML 1.0 has no way to write the other control characters, nor half of a surrogate pair. */
function xml(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
      .replace(/[\ud800-\udfff]/gu, "\ufffd")
      .replace(/[&<>"\n\t]/g, (character) => ENTITIES[character]!)
  );
}
