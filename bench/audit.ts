/**
 * npm run --silent bench:audit -- DIR
 *
 * Audits DIR cold, in a process of its own, as built: files, MB, seconds, MB/s and the highest resident memory. Then
 * ruff and torch-preflight on the same tree in the same run, where .venv-peers/bin has them, and the ratios to them.
 * Memory is read from /proc while the process runs, so only Linux reports it.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { DEFAULTS } from "../src/audit/settings.ts";
import { discover } from "../src/audit/discover.ts";

const ROOT = resolve(import.meta.dirname, "..");

interface Run {
  readonly seconds: number;
  /** Bytes, null where the system does not say. */
  readonly peak: number | null;
  readonly code: number | null;
}

function peakOf(pid: number): number {
  try {
    const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return line ? Number(line[1]) * 1024 : 0;
  } catch {
    return 0;
  }
}

async function timed(command: string, args: readonly string[]): Promise<Run> {
  const start = performance.now();
  const child = spawn(command, args, { stdio: "ignore" });
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, peakOf(child.pid ?? 0))), 20);
  const code = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("exit", done);
  });
  clearInterval(watch);
  return { seconds: (performance.now() - start) / 1000, peak: peak > 0 ? peak : null, code };
}

const folder = process.argv[2];
if (folder === undefined || !existsSync(folder)) {
  console.error("usage: npm run --silent bench:audit -- DIR");
  process.exit(2);
}
const built = spawnSync(process.execPath, [join(ROOT, "scripts/build.mjs")], {
  stdio: ["ignore", "ignore", "inherit"],
});
if (built.status !== 0) process.exit(2);

const files = discover([folder], process.cwd(), DEFAULTS.exclude).files.map(({ absolute }) => absolute);
const megabytes = files.reduce((sum, path) => sum + statSync(path).size, 0) / 1e6;
const own = await timed(process.execPath, [
  join(ROOT, "dist/plimsoll.js"),
  "audit",
  folder,
  "--format",
  "json",
  "--exit-zero",
]);
console.log(
  `plimsoll: ${files.length} files, ${megabytes.toFixed(1)} MB, ${own.seconds.toFixed(2)} s, ${(megabytes / own.seconds).toFixed(1)} MB/s, ${own.peak === null ? "memory unknown" : `${(own.peak / 1e6).toFixed(0)} MB of memory`}`,
);

const PEERS: readonly (readonly [string, readonly string[]])[] = [
  ["ruff", ["check", "--no-cache", "--exit-zero", "--isolated", folder]],
  ["torch-preflight", [folder]],
];
for (const [name, args] of PEERS) {
  const path = join(ROOT, ".venv-peers/bin", name);
  if (!existsSync(path)) {
    console.log(`${name}: not in .venv-peers, not compared`);
    continue;
  }
  const peer = await timed(path, args);
  // 0 and 1 are "clean" and "findings"; anything else did not do the work.
  if (peer.code !== 0 && peer.code !== 1) {
    console.log(`${name}: failed (exit ${peer.code}), not compared`);
    continue;
  }
  const ratio = peer.seconds / own.seconds;
  console.log(
    `${name}: ${peer.seconds.toFixed(2)} s, ${ratio >= 1 ? `${ratio.toFixed(1)} × as long as plimsoll` : `plimsoll takes ${(1 / ratio).toFixed(1)} × as long`}`,
  );
}
process.exit(own.code === 0 ? 0 : 1);
