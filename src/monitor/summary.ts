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
  /** Bytes of live tensors by kind behind an early optimizer step, where the probe counted them. */
  readonly held: { readonly [kind: string]: Bytes } | null;
}

/** A line that synchronised or copied, as counted in a deep window. */
export interface DeepLine {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly operator: string;
  readonly from: string;
  readonly to: string;
  readonly per_step: number;
  readonly bytes_per_step: Bytes;
}

export interface RunSummary {
  readonly version: 1;
  readonly ranks: readonly RankSummary[];
  readonly slowestRank: number | null;
  readonly loss: number | null;
  readonly epoch: number | null;
  readonly leaks: readonly (LeakEvent & { readonly rank: number })[];
  readonly ooms: readonly (RecordedEvent & { readonly rank: number })[];
  /** Lines that made the host wait in a deep window, the most a step first. */
  readonly waits: readonly DeepLine[];
  /** Lines that copied between devices in a deep window. */
  readonly copies: readonly DeepLine[];
  /** Growth that was looked into and has no tensor behind it. */
  readonly growths: number;
}

export function summarize(records: readonly Record[]): RunSummary {
  // Most runs that do not fit run out before their first step has ended.
  const ranks = records.filter((record) => record.steps > 0 || ranOut(record)).map(summarizeRank);
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
    waits: deepLines(records, "waits"),
    copies: deepLines(records, "copies"),
    growths: tagged(records, "growth").length,
  };
}

const ranOut = (record: Record): boolean => record.events.some((event) => event.k === "oom");

/** What the allocator held when the run ran out, which no step's row has. */
function atOom(record: Record, name: string): Bytes {
  const ooms = record.events.filter((event) => event.k === "oom");
  return Math.max(0, ...ooms.map((event) => Number(event[name] ?? 0)));
}

function summarizeRank(record: Record): RankSummary {
  const head = record.head!;
  const seconds = record.column("seconds");
  const steady = seconds.length > 1 ? seconds.subarray(1) : seconds;
  const total = record.total("seconds");
  const allocated = record.column("allocated");
  const stepsReserved = record.atLargest("reserved", "reserved");
  const stepsAllocated = record.atLargest("peak", "peak");
  const peakReserved = Math.max(stepsReserved, atOom(record, "reserved"));
  const peakAllocated = Math.max(stepsAllocated, atOom(record, "peak"));
  const lost = record.events.findLast((event) => event.k === "dropped");
  return {
    rank: head.rank,
    host: head.host,
    device: head.device?.name ?? null,
    total: head.device?.total ?? 0,
    steps: record.steps,
    stepsPerSecond: total > 0 ? Math.max(1, record.steps - 1) / total : 0,
    medianStep: median(steady),
    shares: Object.fromEntries(
      ["backward", "optimizer", "data", "save", "evaluation"].map((name) => [
        name,
        share(record.total(name), total),
      ]),
    ),
    microBatches: record.last("micro"),
    allocated: record.last("allocated") || lastRead(allocated) || atOom(record, "allocated"),
    reserved: record.last("reserved") || lastRead(record.column("reserved")) || peakReserved,
    peakAllocated,
    peakStep: peakAllocated > stepsAllocated ? record.steps : record.atLargest("peak", "step"),
    peakReserved,
    fragmentation: stepsReserved > 0 ? 1 - record.atLargest("reserved", "allocated") / stepsReserved : 0,
    growthPer100Steps: growthPer100(head.device ? allocated : record.column("heap"), record.steps),
    retries: Math.max(record.atLargest("retries", "retries"), atOom(record, "retries")),
    ooms: record.events.filter((event) => event.k === "oom").length,
    hostPeak: record.host.resident,
    workersPeak: record.host.children,
    lostRows: Number(lost?.["count"] ?? 0),
    held: (record.events.find((event) => event.k === "holdings")?.["kinds"] ?? null) as RankSummary["held"],
  };
}

/** Steps at which counters were not read hold 0. */
function lastRead(values: Float64Array): number {
  return values.findLast((value) => value > 0) ?? 0;
}

/** Between the lowest readings of the second and of the last quarter: warm-up and single large batches stay out. */
function growthPer100(values: Float64Array, steps: number): Bytes {
  const read = values.filter((value) => value > 0);
  if (read.length < 16) return 0;
  const quarter = read.length >> 2;
  const early = lowest(read.subarray(quarter, 2 * quarter));
  const late = lowest(read.subarray(-quarter));
  return ((late - early) / (2 * quarter)) * (read.length / steps) * 100;
}

function lowest(values: Float64Array): number {
  return values.reduce((low, value) => Math.min(low, value), Infinity);
}

function tagged(records: readonly Record[], kind: string): (RecordedEvent & { readonly rank: number })[] {
  return records.flatMap((record) =>
    record.events
      .filter((event) => event.k === kind)
      .map((event) => Object.assign({ rank: record.head!.rank }, event)),
  );
}

/** Of the first rank that has them: the others run the same lines. */
function deepLines(records: readonly Record[], which: "waits" | "copies"): DeepLine[] {
  const deep = records.flatMap((record) => record.events).find((event) => event.k === "deep");
  return (deep?.[which] ?? []) as DeepLine[];
}

function lastNumber(
  events: readonly RecordedEvent[],
  pick: (event: RecordedEvent) => number | undefined,
): number | null {
  return events.map(pick).findLast((value) => typeof value === "number") ?? null;
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

/** Of at most SAMPLED values, evenly spread: sorting a million at each look would take longer than looking. */
const SAMPLED = 65_536;
function median(values: Float64Array): number {
  const stride = Math.ceil(values.length / SAMPLED);
  const sorted =
    stride > 1 ? values.filter((_, index) => index % stride === 0).sort() : values.slice().sort();
  return sorted[sorted.length >> 1] ?? 0;
}
