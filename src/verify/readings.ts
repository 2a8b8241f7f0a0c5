import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Bytes, Seconds } from "../base/units.ts";
import type { Record } from "../monitor/record.ts";
import { Tail } from "../monitor/tail.ts";

export interface Step {
  readonly loss: number | null;
  readonly norm: number | null;
}

export interface Weight {
  readonly name: string | null;
  readonly shape: readonly number[];
  readonly digest: string;
  readonly norm: number;
  /** Projections on fixed random signs: see probe/plimsoll_probe/sketch.py. */
  readonly sums: readonly number[];
}

/** What a run computed. */
export interface Values {
  readonly failed: string | null;
  readonly dtype: string;
  readonly roundoff: number;
  /** One rounding of the losses themselves, which often are kept more finely. */
  readonly lossRoundoff: number;
  readonly steps: readonly Step[];
  readonly weights: readonly Weight[];
  /** Bytes of live tensors on a CPU, behind each step and at most during it; empty on a GPU. */
  readonly rest: readonly Bytes[];
  readonly peak: readonly Bytes[];
  /** Modules loaded from the folder the tree is a copy of. */
  readonly outside: readonly string[];
  readonly world: number;
}

/** What a run took. */
export interface Measured {
  readonly seconds: readonly Seconds[];
  readonly resident: readonly Bytes[];
  readonly peakResident: Bytes;
  /** The allocator's counters, where the run was on a GPU. */
  readonly device: {
    readonly name: string;
    readonly peakAllocated: Bytes;
    readonly peakReserved: Bytes;
    readonly allocated: readonly Bytes[];
  } | null;
  readonly outside: readonly string[];
}

type Raw = { readonly [key: string]: unknown };

export function readValues(folder: string): Values | null {
  const raw = rankZero(folder, "values", "steps");
  if (!raw) return null;
  const steps = (raw["steps"] ?? []) as [unknown, unknown][];
  const weights = (raw["weights"] ?? []) as Raw[];
  return {
    failed: raw["failed"] as string | null,
    dtype: (raw["dtype"] ?? "float32") as string,
    roundoff: Number(raw["roundoff"] ?? 0),
    lossRoundoff: Number(raw["loss_roundoff"] ?? 0),
    steps: steps.map(([loss, norm]) => ({ loss: number(loss), norm: number(norm) })),
    weights: weights.map((weight) => ({
      name: weight["name"] as string | null,
      shape: weight["shape"] as number[],
      digest: weight["digest"] as string,
      norm: number(weight["norm"])!,
      sums: (weight["sums"] as unknown[]).map((sum) => number(sum)!),
    })),
    rest: (raw["rest"] ?? []) as number[],
    peak: (raw["peak"] ?? []) as number[],
    outside: (raw["outside"] ?? []) as string[],
    world: Number(raw["world"] ?? 1),
  };
}

export function readMeasured(folder: string): Measured | null {
  const raw = rankZero(folder, "measure", "seconds");
  if (!raw) return null;
  const record = longest(new Tail(folder).read().filter(({ head }) => head!.rank === 0));
  const device = record?.head?.device;
  return {
    seconds: raw["seconds"] as number[],
    resident: raw["resident"] as number[],
    peakResident: Number(raw["peak_resident"]),
    device: device
      ? {
          name: device.name,
          peakAllocated: record.atLargest("peak", "peak"),
          peakReserved: record.atLargest("reserved", "reserved"),
          allocated: carried([...record.column("allocated")]),
        }
      : null,
    outside: (raw["outside"] ?? []) as string[],
  };
}

/** Steps at which the counters were not read hold 0: they take what was read last. */
function carried(series: readonly Bytes[]): Bytes[] {
  let last = series.find((bytes) => bytes > 0) ?? 0;
  return series.map((bytes) => (last = bytes || last));
}

/** The file of rank 0; of several such processes the one that took the most steps. */
function rankZero(folder: string, kind: string, series: string): Raw | null {
  const files = readdirSync(folder).filter((name) => /^verify-0-.*\.json$/.test(name));
  const found = files
    .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Raw)
    .filter((raw) => raw["kind"] === kind);
  const length = (raw: Raw): number => (raw[series] as unknown[] | undefined)?.length ?? 0;
  return found.toSorted((a, b) => length(b) - length(a))[0] ?? null;
}

function longest(records: readonly Record[]): Record | undefined {
  return records.toSorted((a, b) => b.steps - a.steps)[0];
}

/** NaN and infinities come as text. */
function number(value: unknown): number | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return value;
  if (value === "inf") return Infinity;
  return value === "-inf" ? -Infinity : Number.NaN;
}
