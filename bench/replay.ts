/**
 * npm run --silent bench:replay -- DIR
 *
 * Replays every recorded history of DIR (*.pickle.gz beside an index.jsonl) through the simulated allocator and
 * holds the segment events and the peak of reserved bytes against the recording. Exit 1 unless all are exact.
 * Speeds are events per second of CPU time.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { replay, type Replay } from "../src/allocator/replay.ts";
import { parseSettings } from "../src/allocator/settings.ts";
import { simulate } from "../src/allocator/simulate.ts";
import { torchStats } from "../src/allocator/counters.ts";
import { GiB } from "../src/base/units.ts";
import { readSnapshotFile } from "../src/snapshot/file.ts";
import { Tape } from "../src/tape/tape.ts";
import { Action } from "../src/tape/vocabulary.ts";

interface IndexRow {
  readonly file?: string;
  readonly job?: {
    readonly name?: string;
    readonly conf?: string;
    readonly cap?: number | null;
    readonly frames?: boolean;
  };
  readonly stats?: Readonly<Record<string, number>>;
  readonly peak_reserved?: number;
  readonly total_memory?: number;
}

function readIndex(folder: string): Map<string, IndexRow> {
  const path = join(folder, "index.jsonl");
  const rows = existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line.trim() !== "")
    : [];
  return new Map(
    rows.map((line) => {
      const row = JSON.parse(line) as IndexRow;
      return [row.file ?? `${row.job?.name}.pickle.gz`, row];
    }),
  );
}

/** The bytes torch allows under a cap: it keeps the fraction, and multiplies it out again. */
function allowedBytes(row: IndexRow | undefined, fraction: number): number | null {
  const total = row?.total_memory;
  if (row?.job?.cap) return total ? Math.floor(((row.job.cap * GiB) / total) * total) : row.job.cap * GiB;
  return fraction < 1 && total ? Math.floor(fraction * total) : null;
}

/** CPU seconds of one call, because other work on the machine must not count: the best of batches of 20 ms or more. */
function cpuSeconds(run: () => void): number {
  const from = performance.now();
  run();
  const calls = Math.ceil(20 / Math.max(performance.now() - from, 0.01));
  let best = Infinity;
  const end = performance.now() + 250;
  for (let batches = 0; batches < 5 || performance.now() < end; batches++) {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call++) run();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1e6 / calls);
  }
  return best;
}

/** Allocations and frees at random, none of them related, with so many blocks alive: the hardest for the caches. */
function crowd(live: number, events: number): Tape {
  const tape = new Tape({ source: "bench" }, events);
  let seed = 12345;
  const random = (): number => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return (seed >>> 0) / 2 ** 32;
  };
  const alive: number[] = [];
  for (let row = 0, next = 0; row < events; row++) {
    if (alive.length < live || random() < 0.5) {
      alive.push(next);
      tape.append(Action.alloc, next++, Math.floor(2 ** (5 + random() * 20)));
    } else {
      const at = Math.floor(random() * alive.length);
      tape.append(Action.free, alive[at]!, 0);
      alive[at] = alive.at(-1)!;
      alive.pop();
    }
  }
  return tape;
}

const [folder] = process.argv.slice(2);
if (!folder || !existsSync(folder)) {
  console.error("usage: npm run --silent bench:replay -- DIR   (a folder of *.pickle.gz and index.jsonl)");
  process.exit(2);
}
const index = readIndex(folder);
const files = readdirSync(folder)
  .filter((name) => /\.pickle(\.gz)?$/.test(name))
  .toSorted();
const columns = [36, 9, 16, 16, 10, 9, 12] as const;
const line = (cells: readonly string[]): string =>
  cells.map((cell, at) => (at === 0 ? cell.padEnd(columns[0]) : cell.padStart(columns[at] ?? 0))).join(" ");
console.log(
  line(["history", "events", "recorded peak", "simulated peak", "segments", "counters", "events/s"]),
);

let exact = 0;
let counted = 0;
let allEvents = 0;
let allSeconds = 0;
for (const file of files) {
  const row = index.get(file);
  const snapshot = await readSnapshotFile(join(folder, file));
  for (const { device, tape } of snapshot.devices) {
    const name =
      basename(file).replace(/\.pickle(\.gz)?$/, "") +
      (snapshot.devices.length > 1 ? ` (device ${device})` : "");
    if (tape.info.truncated) {
      console.log(line([name, String(tape.length), "not counted: its beginning is missing"]));
      continue;
    }
    const settings = parseSettings(snapshot.allocConf || row?.job?.conf || "");
    const run = (): Replay =>
      replay(tape, {
        settings,
        allowed: allowedBytes(row, settings.memoryFraction),
        ...(row?.total_memory ? { deviceMemory: row.total_memory } : {}),
      });
    const result = run();
    const seconds = cpuSeconds(run);
    const { stats } = result;
    const known = row?.stats ?? (row?.peak_reserved ? { "reserved_bytes.all.peak": row.peak_reserved } : {});
    const simulated = torchStats(stats);
    const wrong = Object.entries(known).filter(
      ([key, value]) => key in simulated && simulated[key] !== value,
    );
    const peak = known["reserved_bytes.all.peak"] ?? result.recordedPeak;
    const right = result.exact && stats.reserved.peak === peak;
    counted++;
    allEvents += result.events;
    allSeconds += seconds;
    if (right) exact++;
    console.log(
      line([
        name + (row?.job?.frames ? " (frames)" : ""),
        String(result.events),
        String(peak),
        String(stats.reserved.peak),
        result.difference === null ? `${result.recordedSegments} equal` : "DIFFER",
        wrong.length === 0 ? "equal" : "DIFFER",
        `${(result.events / seconds / 1e6).toFixed(2)} M/s`,
      ]),
    );
    if (result.difference)
      console.log(`  segment event ${result.difference.at}: ${JSON.stringify(result.difference)}`);
    if (result.oomMismatches) console.log(`  ${result.oomMismatches} requests failed in only one of the two`);
    for (const [key, value] of wrong) console.log(`  ${key}: recorded ${value}, simulated ${simulated[key]}`);
  }
}
if (counted > 0) console.log(`all: ${allEvents} events at ${(allEvents / allSeconds / 1e6).toFixed(2)} M/s`);
const many = crowd(100_000, 1_000_000);
const crowded = cpuSeconds(() => void simulate(many));
console.log(
  `random, 100000 blocks alive: ${many.length} events at ${(many.length / crowded / 1e6).toFixed(2)} M/s`,
);
console.log(`replay: ${exact} of ${counted} exact`);
process.exit(exact === counted && counted > 0 ? 0 : 1);
