import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { AuditReport } from "../audit/report.ts";
import { formatBytes } from "../base/units.ts";
import { readRun } from "../monitor/run-folder.ts";
import { summarize } from "../monitor/summary.ts";
import { ROWS, Tail } from "../monitor/tail.ts";

interface Measured {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

export interface WithRun {
  readonly report: AuditReport;
  /** What the run measured at lines of which audit says nothing. */
  readonly others: readonly string[];
}

/** What a recorded run measured at a finding's lines, behind the finding's message. */
export function withRun(report: AuditReport, folder: string, root: string): WithRun {
  readRun(folder);
  const measured = measurements(folder);
  const used = new Set<Measured>();
  const findings = report.findings.map((finding) => {
    const file = real(resolve(root, finding.path));
    const here = measured.filter(
      (one) => one.file === file && finding.line <= one.line && one.line <= finding.endLine,
    );
    for (const one of here) used.add(one);
    if (here.length === 0) return finding;
    return {
      ...finding,
      message: `${finding.message} (measured: ${here.map((one) => one.text).join(", ")})`,
    };
  });
  const others = measured.filter((one) => !used.has(one));
  return {
    report: { ...report, findings },
    others: others.map(({ file, line, text }) => `${file}:${line}: ${text}`),
  };
}

function measurements(folder: string): Measured[] {
  const { waits, copies, leaks } = summarize(new Tail(folder, ROWS).read());
  return [
    ...waits.map((one) => ({ ...place(one), text: `${one.per_step} waits for the device a step` })),
    ...copies.map((one) => ({
      ...place(one),
      text: `${one.per_step} copies a step from ${one.from} to ${one.to}, ${formatBytes(one.bytes_per_step)}`,
    })),
    ...leaks.flatMap((leak) =>
      leak.file !== null && leak.line !== null
        ? [
            {
              ...place({ file: leak.file, line: leak.line }),
              text: `keeps ${formatBytes(leak.per_step)} a step`,
            },
          ]
        : [],
    ),
  ];
}

const place = ({ file, line }: { readonly file: string; readonly line: number }): Omit<Measured, "text"> => ({
  file: real(file),
  line,
});

const real = (file: string): string => (existsSync(file) ? realpathSync(file) : file);
