import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import packageJson from "../../../package.json" with { type: "json" };
import { audit, ofText } from "../../audit/audit.ts";
import type { Audit } from "../../audit/audit.ts";
import { readBaseline, writeBaseline } from "../../audit/baseline.ts";
import { mend, mendAll, mendText } from "../../audit/mend.ts";
import type { Wanted } from "../../audit/mend.ts";
import type { AuditReport } from "../../audit/report.ts";
import { ALL_META } from "../../audit/rules.ts";
import type { Settings } from "../../audit/settings.ts";
import { writeAtomically } from "../../audit/write.ts";
import { UserError } from "../../base/errors.ts";
import { decode } from "../../python/source.ts";
import { auditGithub } from "../../report/audit/github.ts";
import { auditGitlab } from "../../report/audit/gitlab.ts";
import { auditHtml } from "../../report/audit/html.ts";
import { auditJson } from "../../report/audit/json.ts";
import { auditJunit } from "../../report/audit/junit.ts";
import { auditMarkdown } from "../../report/audit/markdown.ts";
import type { RulePage } from "../../report/audit/repair.ts";
import { auditSarif } from "../../report/audit/sarif.ts";
import { auditText, statisticsText } from "../../report/audit/text.ts";
import { chosenRules, settingsNear } from "../audit-settings.ts";
import type { Command, Input, Io } from "../command.ts";
import type { ExitCode } from "../exit.ts";
import { rulePage } from "../rule-pages.ts";

export const command: Command = {
  name: "audit",
  summary: "find, explain and mend what wastes, leaks or stalls in training code",
  usage: "plimsoll audit PATH… [options]",
  examples: [
    { line: "plimsoll audit src train.py", says: "every finding, with the code it stands on" },
    { line: "plimsoll audit . --diff", says: "what --fix would change" },
    { line: "plimsoll audit . --format sarif --output audit.sarif", says: "for GitHub's code scanning" },
  ],
  arguments: { name: "PATH", min: 0, max: Infinity },
  options: {
    fix: { type: "boolean", summary: "apply the safe fixes" },
    "unsafe-fixes": { type: "boolean", summary: "with --fix or --diff: the others too" },
    diff: { type: "boolean", summary: "show what --fix would change, and change nothing" },
    format: {
      type: "string",
      value: "FORMAT",
      summary: "how to report",
      choices: ["text", "json", "sarif", "github", "gitlab", "junit", "markdown", "html"],
    },
    json: { type: "boolean", summary: "the same as --format json" },
    output: { type: "string", value: "FILE", summary: "write the report there" },
    select: {
      type: "string",
      value: "CODES",
      multiple: true,
      summary: "only these rules or prefixes (PLM02), with commas",
    },
    ignore: { type: "string", value: "CODES", multiple: true, summary: "not these" },
    exclude: { type: "string", value: "GLOB", multiple: true, summary: "leave these paths out" },
    generated: { type: "boolean", summary: "judge files that say they are generated as well" },
    statistics: { type: "boolean", summary: "count findings by rule" },
    baseline: { type: "string", value: "FILE", summary: "leave out the findings recorded there" },
    "write-baseline": { type: "string", value: "FILE", summary: "record all findings there" },
    "stdin-filename": {
      type: "string",
      value: "NAME",
      summary: "the name of what comes on standard input (PATH -)",
    },
    "with-run": {
      type: "string",
      value: "RUN",
      summary: "a folder of plimsoll run: what it measured at each finding (waits and copies: run --deep)",
    },
    watch: { type: "boolean", summary: "go on, and audit each file again when it changes" },
    "exit-zero": { type: "boolean", summary: "exit 0 even with findings" },
  },
  async run(input, io) {
    const { options, positionals } = input;
    const paths = positionals.length === 0 ? ["."] : positionals;
    const root = process.cwd();
    const settings = settingsNear(paths[0] === "-" ? "." : paths[0]!, chosenRules(options));
    if (options["unsafe-fixes"] === true && options["fix"] !== true && options["diff"] !== true)
      throw new UserError("--unsafe-fixes does nothing by itself", "add --fix or --diff");
    if (options["watch"] === true) {
      const other = [
        "fix",
        "diff",
        "json",
        "format",
        "output",
        "statistics",
        "baseline",
        "write-baseline",
      ].find((name) => options[name] !== undefined);
      if (other !== undefined || paths.includes("-"))
        throw new UserError(
          `--watch does not go with ${other === undefined ? "standard input" : `--${other}`}`,
        );
      const { watch } = await import("../audit-watch.ts");
      return watch(paths, root, settings, io);
    }
    const fromStdin = paths.includes("-");
    if (fromStdin && paths.length > 1)
      throw new UserError("standard input (PATH -) does not go with other paths");
    const baseline = options["baseline"];
    const isKnown =
      typeof baseline === "string" ? readBaseline(baselineText(baseline), root, baseline) : () => false;
    const wanted: Wanted = {
      grades: new Set(options["unsafe-fixes"] === true ? ["safe", "unsafe"] : ["safe"]),
      spared: isKnown,
    };
    const given = fromStdin
      ? onStdin(settings, wanted, input)
      : await onDisk(paths, root, settings, wanted, input);
    const record = options["write-baseline"];
    if (typeof record === "string") {
      const { length } = given.findings;
      writeAtomically(record, writeBaseline(given.findings, root, record));
      io.err(`${length} ${length === 1 ? "finding" : "findings"} recorded in ${record}\n`);
      return 0;
    }
    let report: AuditReport = { ...given, findings: given.findings.filter((one) => !isKnown(one)) };
    const recorded = options["with-run"];
    if (typeof recorded === "string") {
      const { withRun } = await import("../audit-with-run.ts");
      const merged = withRun(report, recorded, root);
      report = merged.report;
      for (const line of merged.others) io.err(`measured, without a finding: ${line}\n`);
    }
    // What is mended there goes where it is read on; the report goes beside it.
    publish(report, input, fromStdin && mends(input) ? { ...io, out: io.err } : io);
    const failed = nothingDone(
      given,
      given.found.map(({ path }) => path),
    );
    return exitCode(report, failed, options["exit-zero"] === true, options["diff"] === true);
  },
};

const mends = ({ options }: Input): boolean => options["fix"] === true && options["diff"] !== true;

async function onDisk(
  paths: readonly string[],
  root: string,
  settings: Settings,
  wanted: Wanted,
  input: Input,
): Promise<Audit> {
  if (mends(input)) return mendAll(paths, root, settings, wanted);
  const found = await audit(paths, root, settings);
  return input.options["diff"] === true ? mend(found, wanted, settings, true) : found;
}

function onStdin(settings: Settings, wanted: Wanted, input: Input): Audit {
  const { options } = input;
  const path = typeof options["stdin-filename"] === "string" ? options["stdin-filename"] : "stdin.py";
  const bytes = readFileSync(0);
  const decoded = decode(bytes);
  if (typeof decoded === "string") {
    if (mends(input)) process.stdout.write(bytes);
    const diagnostics = [{ path, line: null, message: decoded, level: "error" as const }];
    return { ...ofText(path, "", settings), bytes: bytes.length, diagnostics };
  }
  if (!mends(input) && options["diff"] !== true) return ofText(path, decoded.text, settings);
  const { report, text } = mendText(path, decoded, settings, wanted);
  if (options["diff"] === true) return { ...ofText(path, decoded.text, settings), diff: report.diff };
  process.stdout.write(text);
  return { ...report, diff: null };
}

function publish(report: AuditReport, { options }: Input, io: Io): void {
  const format = options["json"] === true ? "json" : (options["format"] ?? "text");
  const output = options["output"];
  const text: string | Uint8Array =
    options["statistics"] === true && format === "text"
      ? statisticsText(report)
      : report.diff !== null && format === "text"
        ? report.diff
        : rendered(report, String(format), io.color && output === undefined);
  if (typeof output !== "string" && typeof text !== "string") process.stdout.write(text);
  else if (typeof output !== "string") io.out(String(text));
  else writeReport(output, text);
}

/** Into what is there, where nothing can be put in its place: a pipe, a terminal, a file that a container lends. */
function writeReport(output: string, text: string | Uint8Array): void {
  if (existsSync(output) && !statSync(output).isFile()) return writeFileSync(output, text);
  try {
    writeAtomically(output, text);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") throw error;
    writeFileSync(output, text);
  }
  return undefined;
}

function rendered(report: AuditReport, format: string, color: boolean): string {
  const pages = (): RulePage[] =>
    ALL_META.map((meta) => ({ meta, help: rulePage(meta.code) ?? meta.summary }));
  switch (format) {
    case "json":
      return auditJson(report);
    case "sarif":
      return auditSarif(report, pages(), packageJson.version);
    case "github":
      return auditGithub(report);
    case "gitlab":
      return auditGitlab(report);
    case "junit":
      return auditJunit(report);
    case "markdown":
      return auditMarkdown(report, pages());
    case "html":
      return auditHtml(report, pages());
    default:
      return auditText(report, color);
  }
}

/** 2 only when nothing could be done: every path failed. With --diff, 1 means that there is something to mend. */
function exitCode(report: AuditReport, failed: boolean, zero: boolean, dry: boolean): ExitCode {
  if (failed) return 2;
  if (zero) return 0;
  if (dry) return report.diff?.length === 0 ? 0 : 1;
  return report.findings.length > 0 ? 1 : 0;
}

/** Whether each file, and each path that is none, has an error of its own; one of syntax, where nothing else was found. */
function nothingDone({ diagnostics, findings }: AuditReport, found: readonly string[]): boolean {
  const errors = new Set(
    diagnostics.filter(({ level }) => level === "error" || findings.length === 0).map(({ path }) => path),
  );
  return errors.size > 0 && found.every((path) => errors.has(path));
}

function baselineText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new UserError(`cannot read the baseline ${path}`, "make one with --write-baseline FILE");
  }
}
