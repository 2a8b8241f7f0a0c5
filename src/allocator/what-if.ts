import type { Bytes } from "../base/units.ts";
import { Action } from "../tape/vocabulary.ts";
import type { Tape } from "../tape/tape.ts";
import type { OutOfMemory } from "./oom.ts";
import { replay, type Replay } from "./replay.ts";
import { segmentSize } from "./rounding.ts";
import { formatSettings, parseSettings, type AllocatorSettings } from "./settings.ts";
import { simulate, type AvoidedOom } from "./simulate.ts";

/** What the allocator could not go beyond. */
export interface Limit {
  readonly bytes: Bytes;
  /**
   * "given": the user's. "device": the card was full at the recorded out-of-memory. "cap": a memory fraction refused
   * the request; it is not in the file, so this lies between the most the run ever held and what was refused.
   */
  readonly source: "given" | "device" | "cap";
}

export interface Outcome {
  readonly conf: string;
  readonly peakReserved: Bytes;
  readonly peakAllocated: Bytes;
  /** Share of the peak of reserved bytes that never held a tensor at the same time as the rest. */
  readonly unused: number;
  readonly segments: number;
  readonly deviceFrees: number;
  readonly retries: number;
  readonly oom: (OutOfMemory & { readonly row: number }) | null;
  /** Recorded out-of-memories that these settings serve. */
  readonly avoided: readonly AvoidedOom[];
}

export interface WhatIf {
  readonly recordedConf: string;
  readonly recordedPeak: Bytes;
  readonly recordedSegments: number;
  /** Rows of recorded out-of-memories. */
  readonly ooms: readonly number[];
  readonly limit: Limit | null;
  /** The recording held against the simulation under its own settings. */
  readonly check: Replay;
  readonly same: Outcome;
  /** In the order asked for. */
  readonly others: readonly Outcome[];
}

/**
 * Settings worth trying, most often useful first. Garbage collection only where a memory fraction makes torch run it.
 */
export function sweepSettings(limit: Limit | null): string[] {
  const list = [
    "",
    "expandable_segments:True",
    ...[32, 64, 128, 256, 512].map((mb) => `max_split_size_mb:${mb}`),
    ...[2, 4, 8, 16].map((divisions) => `roundup_power2_divisions:${divisions}`),
    "expandable_segments:True,roundup_power2_divisions:8",
    "max_split_size_mb:128,roundup_power2_divisions:8",
  ];
  if (limit && limit.source !== "device") {
    list.push(
      "garbage_collection_threshold:0.6",
      "garbage_collection_threshold:0.8",
      "garbage_collection_threshold:0.8,max_split_size_mb:128",
    );
  }
  return list;
}

export function whatIf(
  tape: Tape,
  confs: readonly string[] | ((limit: Limit | null) => readonly string[]),
  given: Bytes | null,
): WhatIf {
  const settings = parseSettings(tape.info.allocConf);
  const asked: Limit | null = given === null ? null : { bytes: given, source: "given" };
  const { check, limit: inferred } = checked(tape, settings, asked);
  const limit = asked ?? inferred;
  const outcome = (conf: string): Outcome => run(tape, parseSettings(conf), limit, check.emptied);
  return {
    recordedConf: formatSettings(settings),
    recordedPeak: check.recordedPeak,
    recordedSegments: check.recordedSegments,
    ooms: oomRows(tape),
    limit,
    check,
    same: outcome(tape.info.allocConf),
    others: (typeof confs === "function" ? confs(limit) : confs).map(outcome),
  };
}

/** Best first: those that do not run out, then by peak of reserved bytes, then by calls to the device. */
export function ranked(outcomes: readonly Outcome[]): Outcome[] {
  const cost = (one: Outcome): readonly number[] => [
    one.oom ? 1 : 0,
    one.oom ? -one.oom.row : 0,
    one.peakReserved,
    one.retries,
    one.segments + one.deviceFrees,
  ];
  return outcomes.toSorted((a, b) => {
    const [left, right] = [cost(a), cost(b)];
    const at = left.findIndex((value, i) => value !== right[i]);
    return at < 0 ? 0 : left[at]! - right[at]!;
  });
}

function run(
  tape: Tape,
  settings: AllocatorSettings,
  limit: Limit | null,
  emptied: readonly number[],
): Outcome {
  const { stats, oom, avoided } = simulate(tape, { settings, emptied, ...asLimits(limit) });
  return {
    conf: formatSettings(settings),
    peakReserved: stats.reserved.peak,
    peakAllocated: stats.allocated.peak,
    unused: stats.reserved.peak > 0 ? 1 - stats.allocated.peak / stats.reserved.peak : 0,
    segments: stats.deviceAllocs,
    deviceFrees: stats.deviceFrees,
    retries: stats.retries,
    oom,
    avoided,
  };
}

function asLimits(limit: Limit | null): { readonly allowed: Bytes | null; readonly capacity: Bytes | null } {
  const device = limit?.source === "device";
  return { allowed: limit && !device ? limit.bytes : null, capacity: limit && device ? limit.bytes : null };
}

function oomRows(tape: Tape): number[] {
  const { action } = tape.columns;
  const rows: number[] = [];
  for (let row = 0; row < tape.length; row++) if (action[row] === Action.oom) rows.push(row);
  return rows;
}

/**
 * The recording under its own settings, and the limit it ran under. A cap is not in the file, so of those possible
 * the first that reproduces the recording is taken, else the first of all.
 */
function checked(
  tape: Tape,
  settings: AllocatorSettings,
  asked: Limit | null,
): { readonly check: Replay; readonly limit: Limit | null } {
  const possible = [...possibleLimits(tape, settings), ...(asked ? [asked] : [])];
  const tries = possible.map((limit) => ({
    limit,
    check: replay(tape, { settings, ...asLimits(limit) }),
  }));
  return tries.find(({ check }) => check.exact) ?? tries[0]!;
}

/** What may have stopped the recorded run at its out-of-memories; null alone if it had none. */
function possibleLimits(tape: Tape, settings: AllocatorSettings): (Limit | null)[] {
  const { action, bytes, address } = tape.columns;
  let reserved = 0;
  let most = 0;
  let refused = Infinity;
  let device: Bytes | null = null;
  for (let row = 0; row < tape.length; row++) {
    switch (action[row]) {
      case Action.segment_alloc:
      case Action.segment_map:
        reserved += bytes[row]!;
        most = Math.max(most, reserved);
        break;
      case Action.segment_free:
      case Action.segment_unmap:
        reserved -= bytes[row]!;
        break;
      case Action.oom: {
        const segment = segmentSize(bytes[row]!, settings);
        refused = Math.min(refused, reserved + segment);
        // The row's address is the free device memory at that moment.
        if (address[row]! < segment) device ??= reserved + address[row]!;
        break;
      }
    }
  }
  if (refused === Infinity) return [null];
  if (device !== null) return [{ bytes: Math.max(device, most), source: "device" }];
  // Everything from the most that was held to just below what was refused is possible.
  return [most, Math.max(refused - 1, most)].map((limit): Limit => ({ bytes: limit, source: "cap" }));
}
