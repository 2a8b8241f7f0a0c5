import type { Bytes } from "../base/units.ts";
import { ACTIONS, Action } from "../tape/vocabulary.ts";
import type { Tape } from "../tape/tape.ts";
import { Allocator, type AllocatorOptions } from "./allocator.ts";
import { NONE } from "./blocks.ts";
import type { Stats } from "./counters.ts";
import type { Placement } from "./heap.ts";
import { Holders } from "./holders.ts";

export interface SegmentEvent {
  readonly action: string;
  readonly address: number;
  readonly bytes: Bytes;
  readonly stream: number;
}

export interface Replay {
  readonly stats: Stats;
  /** Allocations and frees fed. */
  readonly events: number;
  /** Peak of reserved bytes by the recorded segment events. */
  readonly recordedPeak: Bytes;
  readonly recordedSegments: number;
  /** Those of them that took memory from the device. */
  readonly recordedTaken: number;
  readonly simulatedSegments: number;
  /** The first segment event that differs; null when the sequences are equal. */
  readonly difference: {
    readonly at: number;
    readonly recorded: SegmentEvent | null;
    readonly simulated: SegmentEvent | null;
  } | null;
  /** Out-of-memory rows the recording and the simulation disagree about. */
  readonly oomMismatches: number;
  readonly exact: boolean;
  /** Rows before which the user emptied the cache: releases that no allocation accounts for. */
  readonly emptied: readonly number[];
}

export type ReplayOptions = Pick<AllocatorOptions, "settings" | "allowed" | "capacity" | "deviceMemory">;

const isSegment = (action: number): boolean =>
  action >= Action.segment_alloc && action <= Action.segment_unmap;
const gives = (action: number): boolean => action === Action.segment_free || action === Action.segment_unmap;

/** Feeds a recorded tape's allocations and frees, and holds the simulated segment events against the recorded ones. */
export function replay(tape: Tape, options: ReplayOptions): Replay {
  return new Replayer(tape, options).run();
}

class Replayer {
  readonly #tape: Tape;
  readonly #allocator: Allocator;
  /** Rows of the recorded segment events. */
  readonly #segmentRows: number[] = [];
  readonly #holders = new Holders();
  /** Storages whose recorded completion belongs to the synchronisation of a release still to come. */
  readonly #held = new Set<number>();
  readonly #emptied: number[] = [];
  #simulated = 0;
  #difference: Replay["difference"] = null;
  #top = 0;

  constructor(tape: Tape, options: ReplayOptions) {
    this.#tape = tape;
    const { action, address, bytes } = tape.columns;
    for (let row = 0; row < tape.length; row++) {
      if (!isSegment(action[row]!)) continue;
      this.#segmentRows.push(row);
      this.#top = Math.max(this.#top, address[row]! + bytes[row]!);
    }
    this.#allocator = new Allocator({
      ...options,
      place: this.#place,
      onSegment: (name, at, size, stream) =>
        this.#compare({ action: name, address: at, bytes: size, stream }),
      onSynchronize: () => this.#completeHeld(),
    });
  }

  run(): Replay {
    const { action, bytes } = this.#tape.columns;
    let events = 0;
    let oomMismatches = 0;
    let reserved = 0;
    let recordedPeak = 0;
    let seen = 0;
    for (let row = 0; row < this.#tape.length; row++) {
      const code = action[row]!;
      if (isSegment(code)) {
        reserved += gives(code) ? -bytes[row]! : bytes[row]!;
        recordedPeak = Math.max(recordedPeak, reserved);
        // The simulation lags at a release that no allocation to come accounts for: the user's empty_cache.
        if (gives(code) && this.#simulated <= seen && !this.#nextAllocReleases(row)) {
          this.#emptied.push(row);
          this.#allocator.emptyCache();
        }
        seen++;
      } else {
        if (code !== Action.snapshot) events++;
        if (!this.#feed(row)) oomMismatches++;
      }
    }
    const recordedSegments = this.#segmentRows.length;
    if (this.#difference === null && this.#simulated < recordedSegments) {
      this.#difference = { at: this.#simulated, recorded: this.#recorded(this.#simulated), simulated: null };
    }
    const stats = this.#allocator.stats();
    return {
      stats,
      events,
      recordedPeak,
      recordedSegments,
      recordedTaken: this.#segmentRows.filter((row) => !gives(action[row]!)).length,
      simulatedSegments: this.#simulated,
      difference: this.#difference,
      oomMismatches,
      emptied: this.#emptied,
      exact: this.#difference === null && oomMismatches === 0 && stats.reserved.peak === recordedPeak,
    };
  }

  /** False when the recording served a request the simulation could not, or the other way round. */
  #feed(row: number): boolean {
    const { action, storage, bytes, stream } = this.#tape.columns;
    const allocator = this.#allocator;
    const id = storage[row]!;
    const block = this.#holders.get(id);
    switch (action[row]) {
      case Action.alloc: {
        const made = allocator.alloc(bytes[row]!, this.#tape.streams[stream[row]!]!);
        this.#completeHeld();
        if (made === NONE) return false;
        this.#holders.set(id, made);
        return true;
      }
      case Action.oom: {
        const made = allocator.alloc(bytes[row]!, this.#tape.streams[stream[row]!]!);
        this.#completeHeld();
        if (made !== NONE) allocator.free(made);
        return made === NONE;
      }
      case Action.free:
        if (block === NONE) return true;
        allocator.free(block);
        this.#holders.set(id, NONE);
        return true;
      case Action.free_requested:
        if (block !== NONE) allocator.requestFree(block);
        return true;
      case Action.free_completed:
        if (block === NONE) return true;
        if (this.#releaseFollows(row)) {
          this.#held.add(id);
        } else {
          allocator.completeFree(block);
          this.#holders.set(id, NONE);
        }
        return true;
      case Action.empty_cache:
        allocator.emptyCache();
        return true;
      default:
        return true;
    }
  }

  /**
   * A miss that ends in a full release first waits for other streams, and the completions it waits for are
   * recorded before the allocation itself. They must not be reusable when that allocation searches the cache.
   */
  #releaseFollows(row: number): boolean {
    const { action } = this.#tape.columns;
    if (this.#allocator.collects) return false;
    let next = row + 1;
    while (next < this.#tape.length && action[next] === Action.free_completed) next++;
    return next < this.#tape.length && gives(action[next]!);
  }

  #completeHeld(): void {
    for (const id of this.#held) {
      this.#allocator.completeFree(this.#holders.get(id));
      this.#holders.set(id, NONE);
    }
    this.#held.clear();
  }

  /** Whether the allocation that follows a recorded release would itself release. */
  #nextAllocReleases(row: number): boolean {
    const { action, bytes, stream } = this.#tape.columns;
    let next = row + 1;
    while (next < this.#tape.length && (isSegment(action[next]!) || action[next] === Action.free_completed))
      next++;
    const code = action[next];
    if (next >= this.#tape.length || (code !== Action.alloc && code !== Action.oom)) return false;
    const size = bytes[next]!;
    return (
      !this.#allocator.hasCached(size, this.#tape.streams[stream[next]!]!) && this.#allocator.mayRelease(size)
    );
  }

  #recorded(at: number): SegmentEvent | null {
    const row = this.#segmentRows[at];
    if (row === undefined) return null;
    const { action, address, bytes, stream } = this.#tape.columns;
    return {
      action: ACTIONS[action[row]!]!,
      address: address[row]!,
      bytes: bytes[row]!,
      stream: this.#tape.streams[stream[row]!]!,
    };
  }

  /** Ties between equal sizes go to the lower address, so a new segment lies where the recording put it. */
  #place: Placement = (action, bytes) => {
    const recorded = this.#recorded(this.#simulated);
    if (recorded?.action === action) return recorded.address;
    const address = this.#top;
    this.#top += bytes;
    return address;
  };

  #compare(simulated: SegmentEvent): void {
    const at = this.#simulated++;
    if (this.#difference !== null) return;
    const recorded = this.#recorded(at);
    if (
      recorded === null ||
      recorded.action !== simulated.action ||
      recorded.address !== simulated.address ||
      recorded.bytes !== simulated.bytes ||
      recorded.stream !== simulated.stream
    ) {
      this.#difference = { at, recorded, simulated };
    }
  }
}
