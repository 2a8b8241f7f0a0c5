import type { Bytes } from "../base/units.ts";
import { allocatedCurve, peakOf, phasePeaks } from "./curve.ts";
import { keyOf, labelOf, type Dimension } from "./makeup.ts";
import { lifetimes, liveAt, type Lifetimes } from "./lifetimes.ts";
import type { Tape } from "./tape.ts";

export interface Delta {
  readonly label: string;
  readonly before: Bytes;
  readonly after: Bytes;
}

/** Storages of one module, kind and size that are alive at one tape's peak and have no partner at the other's. */
export interface Unmatched {
  readonly module: string;
  readonly kind: string;
  readonly bytes: Bytes;
  readonly count: number;
}

export interface TapeDiff {
  readonly peak: { readonly before: Bytes; readonly after: Bytes };
  /** Highest point reached in each phase. */
  readonly byPhase: readonly Delta[];
  /** Make-up of the two peaks. */
  readonly byKind: readonly Delta[];
  readonly byModule: readonly Delta[];
  readonly matched: { readonly count: number; readonly bytes: Bytes };
  readonly onlyBefore: readonly Unmatched[];
  readonly onlyAfter: readonly Unmatched[];
}

/** Lays one tape's peak over another's. Largest difference first in every list. */
export function diffTapes(before: Tape, after: Tape): TapeDiff {
  const a = atPeak(before);
  const b = atPeak(after);
  return {
    peak: { before: a.bytes, after: b.bytes },
    byPhase: deltas(a.phases, b.phases),
    byKind: deltas(sums(a, "kind"), sums(b, "kind")),
    byModule: deltas(sums(a, "module"), sums(b, "module")),
    ...match(a, b),
  };
}

interface AtPeak {
  readonly tape: Tape;
  readonly lives: Lifetimes;
  readonly live: Int32Array;
  readonly bytes: Bytes;
  readonly phases: ReadonlyMap<string, Bytes>;
}

function atPeak(tape: Tape): AtPeak {
  const lives = lifetimes(tape);
  const curve = allocatedCurve(tape, lives);
  const peak = peakOf(curve);
  const phases = new Map(phasePeaks(tape, curve).map((at) => [at.phase as string, at.bytes]));
  return { tape, lives, live: liveAt(lives, peak.row), bytes: peak.bytes, phases };
}

function label(at: AtPeak, dimension: Dimension, id: number): string {
  return labelOf(at.tape, dimension, keyOf(at.tape, at.lives, dimension, id));
}

function sums(at: AtPeak, dimension: Dimension): Map<string, Bytes> {
  const totals = new Map<string, Bytes>();
  for (const id of at.live) {
    const name = label(at, dimension, id);
    totals.set(name, (totals.get(name) ?? 0) + at.lives.bytes[id]!);
  }
  return totals;
}

function deltas(before: ReadonlyMap<string, Bytes>, after: ReadonlyMap<string, Bytes>): Delta[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ label: name, before: before.get(name) ?? 0, after: after.get(name) ?? 0 }))
    .sort(
      (x, y) => Math.abs(y.after - y.before) - Math.abs(x.after - x.before) || (x.label < y.label ? -1 : 1),
    );
}

function match(a: AtPeak, b: AtPeak): Pick<TapeDiff, "matched" | "onlyBefore" | "onlyAfter"> {
  const left = tally(a);
  const right = tally(b);
  let count = 0;
  let bytes = 0;
  for (const [name, one] of left) {
    const other = right.get(name);
    if (!other) continue;
    const both = Math.min(one.count, other.count);
    one.count -= both;
    other.count -= both;
    count += both;
    bytes += both * one.bytes;
  }
  return { matched: { count, bytes }, onlyBefore: rest(left), onlyAfter: rest(right) };
}

function tally(at: AtPeak): Map<string, { module: string; kind: string; bytes: Bytes; count: number }> {
  const groups = new Map<string, { module: string; kind: string; bytes: Bytes; count: number }>();
  for (const id of at.live) {
    const module = label(at, "module", id);
    const kind = label(at, "kind", id);
    const bytes = at.lives.bytes[id]!;
    const name = `${bytes} ${kind} ${module}`;
    const group = groups.get(name);
    if (group) group.count++;
    else groups.set(name, { module, kind, bytes, count: 1 });
  }
  return groups;
}

function rest(groups: ReadonlyMap<string, Unmatched>): Unmatched[] {
  return [...groups.values()]
    .filter((group) => group.count > 0)
    .sort((x, y) => y.bytes * y.count - x.bytes * x.count || (x.module < y.module ? -1 : 1));
}
