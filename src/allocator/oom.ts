import type { Bytes } from "../base/units.ts";
import { NONE } from "./blocks.ts";
import type { Bin, Heap } from "./heap.ts";
import { segmentSize } from "./rounding.ts";

/** An allocation that failed after everything cached was released: a result, not an exception. */
export interface OutOfMemory {
  readonly requested: Bytes;
  readonly rounded: Bytes;
  /** What was asked of the device. */
  readonly segment: Bytes;
  readonly stream: number;
  readonly allocated: Bytes;
  readonly reserved: Bytes;
  /** Reserved but in use by nobody. */
  readonly cachedFree: Bytes;
  /** Largest free block that the request could have come from. */
  readonly largestFree: Bytes;
  /** The smaller of the memory fraction's limit and the device's; Infinity when neither is set. */
  readonly limit: Bytes;
  /** "fragmented": the free bytes under the limit would do if they lay together. "full": they would not. */
  readonly cause: "full" | "fragmented";
}

export function explainOom(heap: Heap, bin: Bin, requested: Bytes, rounded: Bytes): OutOfMemory {
  const { blocks, counters, limits, settings } = heap;
  const limit = Math.min(limits.allowed ?? Infinity, limits.capacity ?? Infinity);
  const largest = bin.free.largest();
  const active = counters.active.current;
  return {
    requested,
    rounded,
    segment: segmentSize(rounded, settings),
    stream: bin.stream,
    allocated: counters.allocated.current,
    reserved: counters.reserved.current,
    cachedFree: counters.reserved.current - active,
    largestFree: largest === NONE ? 0 : blocks.size(largest),
    limit,
    cause: limit - active >= rounded ? "fragmented" : "full",
  };
}
