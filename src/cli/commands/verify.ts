import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/errors.ts";
import { verifyMarkdown } from "../../report/verify-markdown.ts";
import { lossPicture, memoryPicture } from "../../report/verify-pictures.ts";
import { verifyText } from "../../report/verify-text.ts";
import type { CommandLine } from "../../verify/child.ts";
import { parseShare } from "../../verify/gates.ts";
import { parseMetric } from "../../verify/metric.ts";
import type { Verification } from "../../verify/result.ts";
import { SideFailed, verify, type Request, type SideName } from "../../verify/verify.ts";
import type { Command, Input, Io } from "../command.ts";
import type { ExitCode } from "../exit.ts";

/** ABBA twice: both sides come first equally often. */
const REPEATS = 4;
const CLEAR = "\r\u001B[2K";
const USAGE = "plimsoll verify [--before REV] [--after .] [options] -- python train.py …";

export const command: Command = {
  name: "verify",
  summary: "run a training before and after a change: same results? less memory? faster? new warnings?",
  usage: USAGE,
  examples: [
    {
      line: "plimsoll verify --before HEAD~1 --after . -- python train.py --steps 20",
      says: "the last commit against this folder, uncommitted changes included",
    },
    {
      line: 'plimsoll verify --before-command "python old.py" --after-command "python new.py"',
      says: "two commands on the same code",
    },
    {
      line: "plimsoll verify --before main --same-results --max-memory-increase 2% --max-slowdown 3% -- python train.py",
      says: "a gate for CI: exit 1 when one of them fails",
    },
    {
      line: "plimsoll verify --before main --share data --metric 'accuracy=([0-9.]+)' --out report -- python train.py",
      says: "with data that git ignores, a metric from the log, and a report with pictures",
    },
  ],
  options: {
    before: { type: "string", value: "REV|DIR", summary: "revision or folder (default HEAD)" },
    after: {
      type: "string",
      value: "REV|DIR",
      summary: "revision or folder (default . with what is not committed)",
    },
    "before-command": { type: "string", value: "CMD", summary: "run this before instead of what follows --" },
    "after-command": { type: "string", value: "CMD", summary: "run this after instead of what follows --" },
    repeats: { type: "string", value: "N", summary: `pairs of timed runs (default ${REPEATS})` },
    seed: {
      type: "string",
      value: "N",
      summary: "for Python, NumPy and torch, unless the script sets its own (default 0)",
    },
    share: {
      type: "string",
      value: "PATH",
      multiple: true,
      summary: "file or folder that git ignores and every run needs (data, models): linked, not copied",
    },
    metric: {
      type: "string",
      value: "REGEX",
      multiple: true,
      summary: "a number from the log: the last match of the group",
    },
    "metric-command": {
      type: "string",
      value: "CMD",
      summary: "run in each tree behind each timed run; the last number it prints counts",
    },
    "same-results": { type: "boolean", summary: "gate: losses, gradient norms and weights must be the same" },
    "max-memory-increase": {
      type: "string",
      value: "N%",
      summary: "gate: peak memory may grow by this much",
    },
    "max-slowdown": { type: "string", value: "N%", summary: "gate: a step may take this much longer" },
    "no-deterministic": {
      type: "boolean",
      summary: "do not ask PyTorch for deterministic algorithms where results are compared",
    },
    out: {
      type: "string",
      value: "DIR",
      summary: "write report.md, loss.svg, memory.svg and verify.json there",
    },
    markdown: { type: "boolean", summary: "print the report as markdown" },
    json: { type: "boolean", summary: "print the result as JSON" },
  },
  async run(input, io) {
    const cancelled = new AbortController();
    const request = requestFrom(input, io, cancelled.signal);
    let signalled = 0;
    const stop = (signal: NodeJS.Signals): void => {
      signalled = signal === "SIGINT" ? 130 : 143;
      cancelled.abort();
    };
    process.on("SIGINT", stop).on("SIGTERM", stop);
    try {
      const result = await verify(request);
      if (io.interactive) io.err(CLEAR);
      write(result, input, io);
      return result.passed ? 0 : 1;
    } catch (error) {
      if (io.interactive) io.err(CLEAR);
      // As shells count: 128 and the signal's number.
      if (signalled) return signalled as ExitCode;
      if (error instanceof SideFailed && error.log) io.err(`${error.log}\n`);
      throw error;
    } finally {
      process.off("SIGINT", stop).off("SIGTERM", stop);
    }
  },
};

function write(result: Verification, input: Input, io: Io): void {
  const out = text(input, "out");
  if (out !== undefined) {
    const files = { loss: "loss.svg", memory: "memory.svg" };
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, "report.md"), verifyMarkdown(result, files));
    writeFileSync(join(out, files.loss), lossPicture(result));
    writeFileSync(join(out, files.memory), memoryPicture(result));
    writeFileSync(join(out, "verify.json"), `${JSON.stringify(result, null, 2)}\n`);
  }
  if (input.options["json"]) io.out(`${JSON.stringify(result, null, 2)}\n`);
  else if (input.options["markdown"]) io.out(verifyMarkdown(result, null));
  else io.out(verifyText(result, io.color));
}

function requestFrom(input: Input, io: Io, cancel: AbortSignal): Request {
  if (input.options["json"] && input.options["markdown"])
    throw new UserError("--json beside --markdown", "give one of them; --out writes both");
  const several = (name: string): readonly string[] =>
    (input.options[name] as readonly string[] | undefined) ?? [];
  const share = (name: string): number | null => {
    const given = text(input, name);
    return given === undefined ? null : parseShare(`--${name}`, given);
  };
  const commands = text(input, "before-command") !== undefined || text(input, "after-command") !== undefined;
  return {
    before: {
      source: text(input, "before") ?? (commands ? "." : "HEAD"),
      command: commandOf(input, "before"),
    },
    after: { source: text(input, "after") ?? ".", command: commandOf(input, "after") },
    repeats: whole(input, "repeats", REPEATS, 1),
    seed: whole(input, "seed", 0, 0),
    deterministic: !input.options["no-deterministic"],
    share: several("share"),
    metrics: several("metric").map(parseMetric),
    metricCommand: text(input, "metric-command") ?? null,
    limits: {
      sameResults: input.options["same-results"] === true,
      memoryIncrease: share("max-memory-increase"),
      slowdown: share("max-slowdown"),
    },
    cwd: process.cwd(),
    env: process.env,
    cancel,
    progress: (what) => {
      if (io.interactive) io.err(`${CLEAR}${what}`.slice(0, io.width + CLEAR.length - 1));
    },
  };
}

function commandOf(input: Input, side: SideName): CommandLine {
  const own = text(input, `${side}-command`);
  if (own !== undefined) {
    if (own.trim() === "") throw new UserError(`--${side}-command is empty`);
    return own;
  }
  if (input.rest.length > 0) return input.rest;
  const other = side === "before" ? "after" : "before";
  throw new UserError(
    text(input, `${other}-command`) === undefined ? "what is to be run?" : `what is to be run ${side}?`,
    `usage: ${USAGE}`,
  );
}

function whole(input: Input, name: string, otherwise: number, least: number): number {
  const given = text(input, name);
  if (given === undefined) return otherwise;
  const value = Number(given);
  if (!Number.isInteger(value) || value < least)
    throw new UserError(`--${name} takes a whole number from ${least} on, not "${given}"`);
  return value;
}

function text(input: Input, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === "string" ? value : undefined;
}
