/**
 * npm run --silent bench:audit -- DIR
 *
 * Audits DIR cold, in a process of its own, as built: files, MB, seconds, MB/s and the highest resident memory. Then
 * ruff and torch-preflight on the same tree in the same run, and the ratios to them; they live in .venv-peers, which is
 * made if it is missing. Memory and processor time are those of the process and all it started, read from /proc: only
 * Linux reports them. Other work on the machine spoils the seconds; the load before the run is printed beside them.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { DEFAULTS } from "../src/audit/settings.ts";
import { discover } from "../src/audit/discover.ts";

const ROOT = resolve(import.meta.dirname, "..");
const PEERS = join(ROOT, ".venv-peers");
/** A peer that takes this many times as long as we do is stopped: the ratio is known well enough. */
const PATIENCE = 25;
/** The same build takes a twentieth longer or shorter from one minute to the next. */
const REPEATS = 5;
/** Milliseconds. Looking through /proc every 20 of them took 0.4 s of processor time in a run of ten seconds. */
const WATCH_EVERY = 200;
/** Clock ticks a second in /proc/PID/stat: 100 on every Linux that Node runs on. */
const TICKS = 100;

interface Run {
  readonly seconds: number;
  /** User and system; 0 where the system does not say. */
  readonly processor: number;
  /** Bytes; 0 where the system does not say. */
  readonly peak: number;
  readonly code: number | null;
  /** It took longer than it was given. */
  readonly stopped: boolean;
}

/** The process and everything below it. */
function tree(pid: number): number[] {
  try {
    const own = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    return [pid, ...own.flatMap(tree)];
  } catch {
    return [pid];
  }
}

/** The most a process has had in memory so far. */
function resident(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** Of the process and of the children it has waited for. */
function processorTime(pid: number): number {
  try {
    // After the name, which may hold anything: utime, stime, cutime and cstime are the 14th to 17th fields.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop()!.split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
  } catch {
    return 0;
  }
}

async function timed(command: string, args: readonly string[], limit = Infinity): Promise<Run> {
  const start = performance.now();
  const child = spawn(command, args, { stdio: "ignore" });
  let stopped = false;
  let peak = 0;
  let processor = 0;
  const watch = setInterval(() => {
    const all = tree(child.pid ?? 0);
    if (performance.now() - start > limit * 1000 && !stopped) {
      stopped = true;
      for (const pid of all) process.kill(pid, "SIGKILL");
    }
    peak = Math.max(
      peak,
      all.reduce((sum, pid) => sum + resident(pid), 0),
    );
    processor = Math.max(
      processor,
      all.reduce((sum, pid) => sum + processorTime(pid), 0),
    );
  }, WATCH_EVERY);
  const code = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("exit", done);
  });
  clearInterval(watch);
  return { seconds: (performance.now() - start) / 1000, processor, peak, code, stopped };
}

function must(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) process.exit(2);
}

const words = ({ seconds, processor, peak }: Run): string =>
  `${seconds.toFixed(2)} s${processor > 0 ? `, ${processor.toFixed(1)} s of processor time` : ""}, ${peak > 0 ? `${(peak / 1e6).toFixed(0)} MB of memory` : "memory unknown"}`;

const folder = process.argv[2];
if (folder === undefined || !existsSync(folder)) {
  console.error("usage: npm run --silent bench:audit -- DIR");
  process.exit(2);
}
must(process.execPath, [join(ROOT, "scripts/build.mjs")]);
if (!existsSync(join(PEERS, "bin/torch-preflight"))) {
  must(process.env["PLIMSOLL_PYTHON"] ?? "python3", ["-m", "venv", PEERS]);
  must(join(PEERS, "bin/pip"), [
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "ruff",
    "torch-preflight",
  ]);
}

const files = discover([folder], process.cwd(), DEFAULTS.exclude).files.map(({ absolute }) => absolute);
const megabytes = files.reduce((sum, path) => sum + statSync(path).size, 0) / 1e6;
console.log(`load before: ${loadavg()[0]!.toFixed(2)} on ${availableParallelism()} cores`);
const command = [join(ROOT, "dist/plimsoll.js"), "audit", folder, "--format", "json", "--exit-zero"];
const owns: Run[] = [];
for (let run = 0; run < REPEATS; run++) owns.push(await timed(process.execPath, command));
owns.sort((a, b) => a.seconds - b.seconds);
const own = owns[REPEATS >> 1]!;
console.log(
  `plimsoll: ${files.length} files, ${megabytes.toFixed(1)} MB, ${words(own)}, ${(megabytes / own.seconds).toFixed(1)} MB/s (of ${REPEATS} runs the middle one; ${owns.map(({ seconds }) => seconds.toFixed(2)).join(", ")} s)`,
);
const whole = await timed(process.execPath, [...command, "--generated"]);
console.log(`plimsoll, generated files judged as well: ${words(whole)}`);

const RUNS: readonly (readonly [string, readonly string[]])[] = [
  ["ruff", ["check", "--no-cache", "--exit-zero", "--isolated", folder]],
  ["torch-preflight", [folder]],
];
for (const [name, args] of RUNS) {
  const peer = await timed(join(PEERS, "bin", name), args, PATIENCE * own.seconds);
  if (peer.stopped) {
    console.log(
      `${name}: stopped after ${peer.seconds.toFixed(0)} s; more than ${PATIENCE} × as long as plimsoll`,
    );
    continue;
  }
  // 0 and 1 are "clean" and "findings"; anything else did not do the work.
  if (peer.code !== 0 && peer.code !== 1) {
    console.log(`${name}: failed (exit ${peer.code}), not compared`);
    continue;
  }
  const ratio = peer.seconds / own.seconds;
  console.log(
    `${name}: ${words(peer)}; ${ratio >= 1 ? `${ratio.toFixed(1)} × as long as plimsoll` : `plimsoll takes ${(1 / ratio).toFixed(1)} × as long`}`,
  );
}
process.exit(own.code === 0 ? 0 : 1);
