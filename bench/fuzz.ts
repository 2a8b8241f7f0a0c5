/**
 * Reads damaged snapshots and counts what must never happen: a crash (anything but one line for the user) or a hang.
 *
 *   npm run --silent bench:fuzz -- [COUNT] [FIRST_SEED]      100,000 files unless told otherwise
 *
 * A child process reads; this one watches. Fifty inputs that take more than the limit are a hang: the child is ended and
 * a new one goes on behind them.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { formatBytes } from "../src/base/units.ts";
import { SnapshotReader } from "../src/snapshot/snapshot.ts";
import { mutated, outcome } from "../test/snapshot/mutate.ts";

const LIMIT_MS = 10_000;
const FIXTURES = new URL("../test/fixtures/snapshots/", import.meta.url);

type Message =
  | {
      readonly kind: "at";
      readonly seed: number;
      readonly read: number;
      readonly refused: number;
      readonly peak: number;
    }
  | { readonly kind: "crash"; readonly seed: number; readonly text: string }
  | { readonly kind: "done"; readonly read: number; readonly refused: number; readonly peak: number };

function readBytes(bytes: Uint8Array, chunk: number): void {
  const reader = new SnapshotReader();
  for (let at = 0; at < bytes.length; at += chunk) reader.push(bytes.subarray(at, at + chunk));
  reader.finish();
}

/** Every tenth file is damaged in its compressed form, where a broken stream reaches the reader cut short. */
function unzipped(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: 1 << 22 });
  } catch {
    return new Uint8Array(0);
  }
}

function work(first: number, last: number): void {
  const plain = [2, 3, 4, 5].map(
    (p) => new Uint8Array(readFileSync(new URL(`small-p${p}.pickle`, FIXTURES))),
  );
  const packed = plain.map((bytes) => new Uint8Array(gzipSync(bytes)));
  const counts = { read: 0, refused: 0 };
  const send = (message: Message): void => void process.send!(message);
  for (let seed = first; seed <= last; seed++) {
    if (seed % 50 === 0) send({ kind: "at", seed, ...counts, peak: process.resourceUsage().maxRSS * 1024 });
    const bytes = seed % 10 === 0 ? unzipped(mutated(packed, seed)) : mutated(plain, seed);
    const found = outcome(() => readBytes(bytes, 1 + ((seed * 7919) % 20_000)));
    if (found === "read" || found === "refused") counts[found]++;
    else send({ kind: "crash", seed, text: found });
  }
  send({ kind: "done", ...counts, peak: process.resourceUsage().maxRSS * 1024 });
  process.disconnect();
}

interface Tally {
  readonly crashes: string[];
  readonly hangs: number[];
  read: number;
  refused: number;
  peak: number;
}

/** Runs one worker until it is done, hangs or dies; returns the seed to go on from. */
function supervise(first: number, last: number, tally: Tally): Promise<number> {
  return new Promise((resolve) => {
    const child = fork(fileURLToPath(import.meta.url), ["--work", String(first), String(last)]);
    let over = false;
    let at = first;
    let counted = { read: 0, refused: 0 };
    let timer: NodeJS.Timeout;
    const finish = (next: number): void => {
      clearTimeout(timer);
      over = true;
      tally.read += counted.read;
      tally.refused += counted.refused;
      child.once("exit", () => resolve(next));
      child.kill("SIGKILL");
    };
    const watch = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        tally.hangs.push(at);
        finish(at + 50);
      }, LIMIT_MS);
    };
    watch();
    child.on("message", (message: Message) => {
      if (over) return;
      watch();
      if (message.kind === "crash") tally.crashes.push(`seed ${message.seed}: ${message.text}`);
      else {
        counted = { read: message.read, refused: message.refused };
        tally.peak = Math.max(tally.peak, message.peak);
      }
      if (message.kind === "at") at = message.seed;
      if (message.kind === "done") finish(last + 1);
    });
    child.on("exit", (code, signal) => {
      if (over) return;
      tally.crashes.push(`near seed ${at}: the reader's process ended with ${signal ?? code}`);
      clearTimeout(timer);
      resolve(at + 50);
    });
  });
}

if (process.argv[2] === "--work") {
  work(Number(process.argv[3]), Number(process.argv[4]));
} else {
  const count = Number(process.argv[2] ?? 100_000);
  const first = Number(process.argv[3] ?? 1);
  const tally: Tally = { crashes: [], hangs: [], read: 0, refused: 0, peak: 0 };
  for (let next = first; next < first + count;) next = await supervise(next, first + count - 1, tally);
  for (const crash of tally.crashes.slice(0, 20)) console.log(crash);
  if (tally.hangs.length > 0) console.log(`hangs after seeds ${tally.hangs.join(", ")}`);
  console.log(
    `${tally.read} read, ${tally.refused} refused in one line, ${formatBytes(tally.peak)} at its peak`,
  );
  console.log(`fuzz: ${count} inputs, ${tally.crashes.length} crashes, ${tally.hangs.length} hangs`);
  process.exitCode = tally.crashes.length + tally.hangs.length === 0 ? 0 : 1;
}
