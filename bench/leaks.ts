/**
 * npm run --silent bench:leaks -- DIR [NAME…]
 *
 * Runs every script of a folder under the probe. A script states its expectation in a comment: "# leak" (or
 * "# leak: line") on the line that keeps the memory, or "# clean" anywhere. Prints one line a script and the totals.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { probeEnvironment } from "../src/monitor/probe.ts";
import type { LeakEvent } from "../src/monitor/record.ts";
import { Tail } from "../src/monitor/tail.ts";

interface Outcome {
  readonly name: string;
  readonly leaky: boolean;
  readonly named: boolean;
  readonly alarm: boolean;
  readonly says: string;
}

const venv = fileURLToPath(new URL("../.venv/bin/python", import.meta.url));
const PYTHON = process.env["PLIMSOLL_PYTHON"] ?? (existsSync(venv) ? venv : "python3");
/** Scripts are one thread each; two at a time leave their timing alone on a small machine. */
const AT_ONCE = Number(process.env["PLIMSOLL_JOBS"] ?? 2);

const [folder, ...only] = process.argv.slice(2);
if (!folder) {
  process.stderr.write("usage: npm run --silent bench:leaks -- DIR [NAME…]\n");
  process.exit(2);
}

function expectation(file: string): { lines: number[]; clean: boolean } {
  const lines: number[] = [];
  let clean = false;
  for (const [index, text] of readFileSync(file, "utf8").split("\n").entries()) {
    if (/#\s*clean\b/i.test(text)) clean = true;
    else if (/#\s*leak\b/i.test(text)) lines.push(index + 1);
  }
  return { lines, clean };
}

async function judge(file: string): Promise<Outcome | null> {
  const { lines, clean } = expectation(file);
  if (!clean && lines.length === 0) return null;
  const run = mkdtempSync(join(tmpdir(), "plimsoll-leaks-"));
  try {
    const code = await execute(file, run);
    const leaks = existsSync(run) ? new Tail(run).read().flatMap((record) => record.leaks()) : [];
    const first = leaks[0];
    const at = (leak: LeakEvent): string =>
      `${leak.file ? basename(leak.file) : "?"}:${leak.line ?? "?"} at step ${leak.step}`;
    const named = leaks.some(
      (leak) =>
        leak.file !== null &&
        realpathSync(leak.file) === realpathSync(file) &&
        lines.includes(leak.line ?? -1),
    );
    const says =
      code !== 0 ? `exit ${code}` : first ? `${leaks.map(at).join(", ")}: ${first.held}` : "silent";
    return { name: basename(file), leaky: lines.length > 0, named, alarm: leaks.length > 0, says };
  } finally {
    rmSync(run, { recursive: true, force: true });
  }
}

function execute(file: string, run: string): Promise<number> {
  return new Promise((done, fail) => {
    const env = probeEnvironment({ ...process.env, OMP_NUM_THREADS: "1" }, run);
    const child = spawn(PYTHON, [file], { env, stdio: ["ignore", "ignore", "inherit"] });
    child.on("error", fail);
    child.on("close", (code) => done(code ?? 1));
  });
}

const waiting = readdirSync(folder)
  .filter((name) => name.endsWith(".py") && (only.length === 0 || only.some((part) => name.includes(part))))
  .toSorted()
  .map((name) => resolve(folder, name));
const outcomes: Outcome[] = [];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let file = waiting.shift(); file; file = waiting.shift()) {
      const outcome = await judge(file);
      if (!outcome) continue;
      outcomes.push(outcome);
      const good = outcome.leaky ? outcome.named : !outcome.alarm;
      process.stdout.write(`${good ? "ok  " : "MISS"} ${outcome.name.padEnd(32)} ${outcome.says}\n`);
    }
  }),
);
const leaky = outcomes.filter((outcome) => outcome.leaky);
const alarms = outcomes.filter((outcome) => !outcome.leaky && outcome.alarm).length;
const named = leaky.filter((outcome) => outcome.named).length;
process.stdout.write(
  `named ${named} of ${leaky.length}, false alarms ${alarms} of ${outcomes.length - leaky.length}\n`,
);
process.exitCode = named === leaky.length && alarms === 0 ? 0 : 1;
