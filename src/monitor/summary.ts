import type { Bytes, Seconds } from "../base/units.ts";
import type { LeakEvent, Record, RecordedEvent } from "./record.ts";

export interface RankSummary {
  readonly rank: number;
  readonly host: string;
  readonly device: string | null;
  /** The card's memory; 0 on a CPU. */
  readonly total: Bytes;
  readonly steps: number;
  readonly stepsPerSecond: number;
  readonly medianStep: Seconds;
  /** Where a step's time went, as shares of it. */
  readonly shares: { readonly [phase: string]: number };
  readonly microBatches: number;
  readonly allocated: Bytes;
  readonly reserved: Bytes;
  readonly peakAllocated: Bytes;
  readonly peakStep: number;
  readonly peakReserved: Bytes;
  /** Of the reserved bytes at their peak, the share not allocated then. */
  readonly fragmentation: number;
  readonly growthPer100Steps: Bytes;
  readonly retries: number;
  readonly ooms: number;
  readonly hostPeak: Bytes;
  readonly workersPeak: Bytes;
  readonly lostRows: number;
}

export interface RunSummary {
  readonly version: 1;
  readonly ranks: readonly RankSummary[];
  readonly slowestRank: number | null;
  readonly loss: number | null;
  readonly epoch: number | null;
  readonly leaks: readonly (LeakEvent & { readonly rank: number })[];
  readonly ooms: readonly (RecordedEvent & { readonly rank: number })[];
  /** Growth that was looked into and has no tensor behind it. */
  readonly growths: number;
}

export function summarize(records: readonly Record[]): RunSummary {
  const ranks = records.filter((record) => record.steps > 0).map(summarizeRank);
  const logs = records.flatMap((record) => record.events.filter((event) => event.k === "log"));
  const slowest = ranks.toSorted((a, b) => b.medianStep - a.medianStep)[0];
  return {
    version: 1,
    ranks,
    slowestRank: ranks.length > 1 ? slowest!.rank : null,
    loss: lastNumber(logs, (log) => (log["values"] as { loss?: number } | undefined)?.loss),
    epoch: lastNumber(logs, (log) => log["epoch"] as number | undefined),
    leaks: records.flatMap((record) =>
      record.leaks().map((leak) => Object.assign({ rank: record.head!.rank }, leak)),
    ),
    ooms: tagged(records, "oom"),
    growths: tagged(records, "growth").length,
  };
}

function summarizeRank(record: Record): RankSummary {
  const head = record.head!;
  const seconds = record.column("seconds");
  // The first step pays for everything that is lazy.
  const steady = seconds.length > 1 ? seconds.subarray(1) : seconds;
  const total = sum(steady);
  const allocated = record.column("allocated");
  const reserved = record.column("reserved");
  const peaks = record.column("peak");
  const fullest = indexOfMax(reserved);
  const peakAt = indexOfMax(peaks);
  const hosts = record.events.filter((event) => event.k === "host");
  const most = (field: string): number => Math.max(0, ...hosts.map((event) => Number(event[field] ?? 0)));
  const micro = record.column("micro");
  const lost = record.events.findLast((event) => event.k === "dropped");
  return {
    rank: head.rank,
    host: head.host,
    device: head.device?.name ?? null,
    total: head.device?.total ?? 0,
    steps: record.steps,
    stepsPerSecond: total > 0 ? steady.length / total : 0,
    medianStep: median(steady),
    shares: Object.fromEntries(
      ["backward", "optimizer", "data", "save", "evaluation"].map((name) => [
        name,
        share(sum(record.column(name).subarray(record.steps > 1 ? 1 : 0)), total),
      ]),
    ),
    microBatches: median(micro),
    allocated: lastRead(allocated),
    reserved: lastRead(reserved),
    peakAllocated: peaks[peakAt] ?? 0,
    peakStep: record.column("step")[peakAt] ?? 0,
    peakReserved: reserved[fullest] ?? 0,
    fragmentation: reserved[fullest] ? 1 - allocated[fullest]! / reserved[fullest]! : 0,
    growthPer100Steps: growthPer100(head.device ? allocated : record.column("heap")),
    retries: Math.max(0, lastRead(record.column("retries"))),
    ooms: record.events.filter((event) => event.k === "oom").length,
    hostPeak: most("resident"),
    workersPeak: most("children"),
    lostRows: Number(lost?.["count"] ?? 0),
  };
}

/** Steps at which counters were not read hold 0. */
function lastRead(values: Float64Array): number {
  return values.findLast((value) => value > 0) ?? 0;
}

/** Between the lowest readings of the second and of the last quarter: warm-up and single large batches stay out. */
export function growthPer100(values: Float64Array): Bytes {
  const read = values.filter((value) => value > 0);
  if (read.length < 16) return 0;
  const quarter = read.length >> 2;
  const early = Math.min(...read.subarray(quarter, 2 * quarter).subarray(-4096));
  const late = Math.min(...read.subarray(-quarter).subarray(-4096));
  return ((late - early) / (2 * quarter)) * 100;
}

function tagged(records: readonly Record[], kind: string): (RecordedEvent & { readonly rank: number })[] {
  return records.flatMap((record) =>
    record.events
      .filter((event) => event.k === kind)
      .map((event) => Object.assign({ rank: record.head!.rank }, event)),
  );
}

function lastNumber(
  events: readonly RecordedEvent[],
  pick: (event: RecordedEvent) => number | undefined,
): number | null {
  return events.map(pick).findLast((value) => typeof value === "number") ?? null;
}

function indexOfMax(values: Float64Array): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) if (values[index]! > values[best]!) best = index;
  return best;
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

function median(values: Float64Array): number {
  const sorted = values.slice().sort();
  return sorted[sorted.length >> 1] ?? 0;
}
