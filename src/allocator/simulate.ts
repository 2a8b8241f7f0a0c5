import type { Bytes } from "../base/units.ts";
import { Action } from "../tape/vocabulary.ts";
import type { Tape } from "../tape/tape.ts";
import { Allocator, type AllocatorOptions } from "./allocator.ts";
import { NONE } from "./blocks.ts";
import type { Stats } from "./counters.ts";
import { Holders } from "./holders.ts";
import type { OutOfMemory } from "./oom.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

export interface SimulateOptions extends Partial<AllocatorOptions> {
  /** Also return allocated and reserved bytes after every row. */
  readonly observe?: boolean;
  /** Rows before which the user emptied the cache, where the tape itself does not say so (see replay.ts). */
  readonly emptied?: readonly number[];
}

/** A recorded out-of-memory that these settings would have served. */
export interface AvoidedOom {
  readonly row: number;
  readonly bytes: Bytes;
  /** What was left under the limit with the request served; Infinity without a limit. */
  readonly spare: Bytes;
}

export interface Simulation {
  readonly stats: Stats;
  /** The allocation that failed; the rows after it were not simulated. */
  readonly oom: (OutOfMemory & { readonly row: number }) | null;
  readonly avoided: readonly AvoidedOom[];
  /** Row after which reserved bytes first stood at their peak; -1 for an empty tape. */
  readonly peakRow: number;
  /** After each row, when observed; after an OOM the last value is repeated. */
  readonly allocated: Float64Array | null;
  readonly reserved: Float64Array | null;
}

/**
 * Runs a tape's allocations and frees through the allocator under any settings: what would be reserved, and
 * would it fit? Stops at the first failure. Segment rows of a recorded tape are ignored (see replay.ts).
 */
export function simulate(tape: Tape, options: SimulateOptions = {}): Simulation {
  const settings = options.settings ?? DEFAULT_SETTINGS;
  const fraction = settings.memoryFraction < 1 && options.deviceMemory !== undefined;
  const allowed =
    options.allowed ?? (fraction ? Math.floor(settings.memoryFraction * options.deviceMemory) : null);
  const pending = new Set<number>();
  const allocator = new Allocator({
    ...options,
    settings,
    allowed,
    onSynchronize: () => {
      for (const storage of pending) {
        allocator.completeFree(holders.get(storage));
        holders.set(storage, NONE);
      }
      pending.clear();
    },
  });
  const holders = new Holders();
  const limit = Math.min(allowed ?? Infinity, options.capacity ?? Infinity);
  const { action, storage, bytes, stream } = tape.columns;
  const { length, streams } = tape;
  const allocated = options.observe ? new Float64Array(length) : null;
  const reserved = options.observe ? new Float64Array(length) : null;
  const avoided: AvoidedOom[] = [];
  let oom: Simulation["oom"] = null;
  let peak = -1;
  let peakRow = -1;
  let emptied = 0;
  let row = 0;
  for (; row < length && oom === null; row++) {
    if (options.emptied?.[emptied] === row) {
      allocator.emptyCache();
      emptied++;
    }
    const id = storage[row]!;
    switch (action[row]) {
      case Action.alloc: {
        const block = allocator.alloc(bytes[row]!, streams[stream[row]!]!);
        if (block === NONE) oom = { ...allocator.oom!, row };
        else holders.set(id, block);
        pending.delete(id);
        break;
      }
      case Action.free: {
        const block = holders.get(id);
        if (block === NONE || pending.has(id)) break;
        allocator.free(block);
        holders.set(id, NONE);
        break;
      }
      case Action.free_requested: {
        const block = holders.get(id);
        if (block === NONE || pending.has(id)) break;
        allocator.requestFree(block);
        pending.add(id);
        break;
      }
      case Action.free_completed:
        if (!pending.delete(id)) break;
        allocator.completeFree(holders.get(id));
        holders.set(id, NONE);
        break;
      case Action.empty_cache:
        allocator.emptyCache();
        break;
      case Action.oom: {
        const block = allocator.alloc(bytes[row]!, streams[stream[row]!]!);
        if (block === NONE) {
          oom = { ...allocator.oom!, row };
        } else {
          avoided.push({ row, bytes: bytes[row]!, spare: limit - allocator.reserved });
          allocator.free(block);
        }
        break;
      }
    }
    const now = allocator.reserved;
    if (now > peak) {
      peak = now;
      peakRow = row;
    }
    if (allocated !== null) allocated[row] = allocator.allocated;
    if (reserved !== null) reserved[row] = now;
  }
  allocated?.fill(allocator.allocated, row);
  reserved?.fill(allocator.reserved, row);
  return { stats: allocator.stats(), oom, avoided, peakRow, allocated, reserved };
}
