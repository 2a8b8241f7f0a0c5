/**
 * Reads the same large snapshot with Plimsoll and with CPython's pickle.load, each in a process of its own, and
 * compares wall time and peak resident memory.
 *
 *   npm run --silent bench:snapshot -- [SIZE | FILE] [ROUNDS]      SIZE like 100MB; 1GB unless given
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { formatBytes, parseBytes } from "../src/base/units.ts";
import { readSnapshotFile } from "../src/snapshot/file.ts";
import { generateSnapshot } from "./generate_snapshot.ts";

interface Reading {
  readonly seconds: number;
  /** Processor time, which other work on the machine disturbs less. */
  readonly cpu: number;
  readonly bytes: number;
  readonly events: number;
}

const PICKLE_LOAD = `
import json, pickle, resource, sys, time
begin, cpu = time.perf_counter(), time.process_time()
with open(sys.argv[1], "rb") as file:
    snapshot = pickle.load(file)
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": seconds, "cpu": cpu, "bytes": bytes, "events": sum(map(len, snapshot["device_traces"]))}), flush=True)
import os
os._exit(0)
`;

async function readHere(path: string): Promise<Reading> {
  const begin = performance.now();
  const before = process.cpuUsage();
  const { devices } = await readSnapshotFile(path);
  const seconds = (performance.now() - begin) / 1000;
  const { user, system } = process.cpuUsage(before);
  const bytes = process.resourceUsage().maxRSS * 1024;
  return {
    seconds,
    cpu: (user + system) / 1e6,
    bytes,
    events: devices.reduce((sum, { tape }) => sum + tape.length, 0),
  };
}

function readIn(program: string, args: readonly string[]): Reading {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  return JSON.parse(stdout) as Reading;
}

function cached(size: number): string {
  const folder = fileURLToPath(new URL("../.cache/", import.meta.url));
  const path = `${folder}snapshot-${size}.pickle`;
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    generateSnapshot(path, size);
  }
  return path;
}

if (process.argv[2] === "--read") {
  console.log(JSON.stringify(await readHere(process.argv[3]!)));
} else {
  const what = process.argv[2] ?? "1GB";
  const rounds = Number(process.argv[3] ?? 1);
  const path = existsSync(what) ? what : cached(parseBytes(what) ?? 1e9);
  console.log(`${formatBytes(statSync(path).size)} in ${path.split("/").pop()}`);
  const own = fileURLToPath(import.meta.url);
  const ours: Reading[] = [];
  const theirs: Reading[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(readIn(process.execPath, ["--import", "tsx", own, "--read", path]));
    theirs.push(readIn("python3", ["-c", PICKLE_LOAD, path]));
    for (const [name, { seconds, cpu, bytes, events }] of [
      ["plimsoll", ours.at(-1)!],
      ["pickle.load", theirs.at(-1)!],
    ] as const) {
      console.log(
        `${name.padEnd(12)} ${seconds.toFixed(2)} s (${cpu.toFixed(2)} s of processor)  ${formatBytes(bytes)} at its peak  ${events} ${name === "plimsoll" ? "rows" : "events"}`,
      );
    }
  }
  // The least of the rounds: noise only ever adds.
  const least = (readings: readonly Reading[], key: "seconds" | "bytes"): number =>
    Math.min(...readings.map((r) => r[key]));
  const time = least(ours, "seconds") / least(theirs, "seconds");
  const memory = least(ours, "bytes") / least(theirs, "bytes");
  console.log(
    `snapshot: time ratio ${time.toFixed(2)} (ours/pickle.load) | memory ratio ${memory.toFixed(2)}`,
  );
}
