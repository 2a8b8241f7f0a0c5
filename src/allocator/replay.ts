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
  /** Storages freed by their owner whose completion has not been recorded yet. */
  readonly #pending = new Set<number>();
  /** A block was freed since the last allocation. */
  #freed = false;
  /** The row after the present run of completions, found once a run. */
  #runEnd = 0;
  /** Recorded segment events passed, and simulated ones. */
  #seen = 0;
  #simulated = 0;
  #difference: Replay["difference"] = null;
  #top = 0;

  constructor(tape: Tape, options: ReplayOptions) {
    this.#tape = tape;
    const { action, address, bytes } = tape.columns;
    for (let row = 0; row < tape.length; row++) {
      if (!isSegment(action[row]!)) continue;
      this.#segmentRows.push(row);
      const end = address[row]! + bytes[row]!;
      if (end > this.#top && Number.isSafeInteger(end)) this.#top = end;
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
    for (let row = 0; row < this.#tape.length; row++) {
      const code = action[row]!;
      if (isSegment(code)) {
        reserved += gives(code) ? -bytes[row]! : bytes[row]!;
        recordedPeak = Math.max(recordedPeak, reserved);
        // The simulation lags at a release that no allocation to come accounts for: the user's empty_cache.
        if (gives(code) && this.#simulated <= this.#seen && !this.#nextAllocReleases(row)) {
          this.#emptied.push(row);
          this.#allocator.emptyCache();
        }
        this.#seen++;
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
    const { action, storage } = this.#tape.columns;
    const allocator = this.#allocator;
    const id = storage[row]!;
    const block = this.#holders.get(id);
    switch (action[row]) {
      case Action.alloc: {
        const made = this.#allocate(row);
        if (made === NONE) return false;
        this.#holders.set(id, made);
        this.#pending.delete(id);
        return true;
      }
      case Action.oom: {
        const made = this.#allocate(row);
        if (made !== NONE) allocator.free(made);
        return made === NONE;
      }
      case Action.free:
        if (block === NONE || this.#waits(id)) return true;
        allocator.free(block);
        this.#holders.set(id, NONE);
        this.#freed = true;
        return true;
      case Action.free_requested:
        if (block === NONE || this.#waits(id)) return true;
        allocator.requestFree(block);
        this.#pending.add(id);
        return true;
      case Action.free_completed:
        if (!this.#pending.has(id)) return true;
        if (this.#completesInRelease(row)) {
          this.#held.add(id);
        } else {
          allocator.completeFree(block);
          this.#holders.set(id, NONE);
          this.#freed = true;
        }
        this.#pending.delete(id);
        return true;
      case Action.empty_cache:
        allocator.emptyCache();
        return true;
      default:
        return true;
    }
  }

  #waits(id: number): boolean {
    return this.#pending.has(id) || this.#held.has(id);
  }

  #allocate(row: number): number {
    const { bytes, stream } = this.#tape.columns;
    const made = this.#allocator.alloc(bytes[row]!, this.#tape.streams[stream[row]!]!, !this.#hides(row));
    this.#completeHeld();
    this.#freed = false;
    return made;
  }

  /**
   * A tape has one row for a free that was requested and completed with nothing in between. On several streams the
   * completion may belong to the release of the allocation that follows, whose search then did not see the block.
   */
  #hides(row: number): boolean {
    if (!this.#freed || this.#tape.streams.length === 1 || !this.#missed(row)) return false;
    return this.#allocator.isOverLimit(this.#tape.columns.bytes[row]!);
  }

  /** Whether the recording found nothing cached for the allocation of this row. */
  #missed(row: number): boolean {
    const { action } = this.#tape.columns;
    return action[row] === Action.oom || (row > 0 && isSegment(action[row - 1]!) && !gives(action[row - 1]!));
  }

  /**
   * A miss that ends in a full release first waits for other streams, and the completions it waits for are
   * recorded before the allocation itself. They must not be reusable when that allocation searches the cache, nor
   * be garbage. A release completes all that is pending, so the completions to come must do so too.
   */
  #completesInRelease(row: number): boolean {
    const { action, bytes } = this.#tape.columns;
    // Garbage was collected for the allocation to come: whatever completes after that is the release's doing.
    if (this.#simulated < this.#seen) return true;
    let next = Math.max(row, this.#runEnd);
    while (next < this.#tape.length && action[next] === Action.free_completed) next++;
    this.#runEnd = next;
    if (next - row < this.#pending.size) return false;
    while (next < this.#tape.length && isSegment(action[next]!)) next++;
    if (action[next] !== Action.alloc && action[next] !== Action.oom) return false;
    const allocator = this.#allocator;
    return this.#missed(next) && allocator.isOverLimit(bytes[next]!) && !allocator.hasGarbage();
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
    const allocator = this.#allocator;
    const size = bytes[next]!;
    if (allocator.hasCached(size, this.#tape.streams[stream[next]!]!))
      return this.#held.size > 0 || this.#hides(next);
    return allocator.hasGarbage() || allocator.isOverLimit(size);
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
    if (recorded?.action === action && recorded.address >= 0) return recorded.address;
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
