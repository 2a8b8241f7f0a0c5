import type { Bytes } from "../base/units.ts";
import { median } from "./numbers.ts";
import { compareQuantity, type Least } from "./quantity.ts";
import type { Measured, Values } from "./readings.ts";
import type { Curves, Quantity } from "./result.ts";

export interface MemoryRuns {
  readonly measured: readonly Measured[];
  readonly values: readonly Values[];
}

/** The caching allocator reserves in pieces of 2 MiB: a smaller difference fits no more and no less. */
const COUNTERS: Least = { share: 0.01, amount: 2 << 20 };
const TENSORS: Least = { share: 0.01, amount: 16 << 10 };
/** Resident memory depends on when the C library gives pages back. */
const RESIDENT: Least = { share: 0.02, amount: 8 << 20 };
/** A growth is real when it comes to this in 100 steps. */
const GROWTH: Least = { share: 0.05, amount: 64 << 10 };
const RESIDENT_GROWTH: Least = { share: 0.2, amount: 8 << 20 };

export const GROWTH_NAME = "growth in 100 steps";
/** The quantities a gate on memory looks at. */
export const PEAKS: readonly string[] = [
  "peak allocated",
  "peak reserved",
  "peak of tensors",
  "peak of the process",
];

/** On a GPU the allocator's counters; on a CPU the bytes of live tensors, and the process as the system sees it. */
export function compareMemory(before: MemoryRuns, after: MemoryRuns): Quantity[] {
  const rows: Quantity[] = [];
  const add = (name: string, least: Least, of: (runs: MemoryRuns) => readonly Bytes[]): void => {
    const [a, b] = [of(before), of(after)];
    if (a.length > 0 || b.length > 0) rows.push(compareQuantity(name, "bytes", a, b, least));
  };
  const devices = (runs: MemoryRuns) => runs.measured.flatMap(({ device }) => (device ? [device] : []));
  const tensors = (runs: MemoryRuns) => runs.values.filter(({ peak }) => Math.max(0, ...peak) > 0);
  const onDevice = devices(before).length > 0 || devices(after).length > 0;
  if (onDevice) {
    add("peak allocated", COUNTERS, (runs) => devices(runs).map((device) => device.peakAllocated));
    add("peak reserved", COUNTERS, (runs) => devices(runs).map((device) => device.peakReserved));
    add("allocated at rest", COUNTERS, (runs) => devices(runs).map((device) => atRest(device.allocated)));
    add(GROWTH_NAME, GROWTH, (runs) => devices(runs).map((device) => growth(device.allocated)));
  } else if (tensors(before).length > 0 && tensors(after).length > 0) {
    add("peak of tensors", TENSORS, (runs) => tensors(runs).map(({ peak }) => Math.max(...peak)));
    add("tensors at rest", TENSORS, (runs) => tensors(runs).map(({ rest }) => atRest(rest)));
    add(GROWTH_NAME, GROWTH, (runs) => tensors(runs).map(({ rest }) => growth(rest)));
  } else {
    add(GROWTH_NAME, RESIDENT_GROWTH, (runs) => runs.measured.map(({ resident }) => growth(resident)));
  }
  add("peak of the process", RESIDENT, (runs) => runs.measured.map(({ peakResident }) => peakResident));
  return rows;
}

export function memoryCurves(before: MemoryRuns, after: MemoryRuns): Curves["memory"] {
  const one = ({ measured, values }: MemoryRuns) => ({
    device: measured[0]?.device?.allocated ?? [],
    tensors: values[0]?.peak ?? [],
    resident: measured[0]?.resident ?? [],
  });
  const [a, b] = [one(before), one(after)];
  if (a.device.length > 0) return { what: "allocated behind each step", before: a.device, after: b.device };
  if (a.tensors.length > 0)
    return { what: "peak of tensors in each step", before: a.tensors, after: b.tensors };
  return { what: "resident memory of the process", before: a.resident, after: b.resident };
}

/** Behind the optimizer, activations are gone: what stays. */
function atRest(series: readonly Bytes[]): Bytes {
  return median(series.slice(series.length >> 1));
}

/** The median slope between any two steps (Theil and Sen) behind the first quarter, where lazy state is made. */
export function growth(series: readonly Bytes[]): Bytes {
  const late = series.slice(Math.ceil(series.length / 4));
  // A million pairs are enough for a median.
  const stride = Math.max(1, Math.ceil(late.length / 1000));
  const points = late.filter((_, at) => at % stride === 0);
  const slopes = points.flatMap((low, at) =>
    points.slice(at + 1).map((high, by) => (high - low) / ((by + 1) * stride)),
  );
  return slopes.length === 0 ? 0 : 100 * median(slopes);
}
