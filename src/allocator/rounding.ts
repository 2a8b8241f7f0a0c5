import type { Bytes } from "../base/units.ts";
import type { AllocatorSettings } from "./settings.ts";

// The constants of c10/core/AllocatorConfig.h.
/** kMinBlockSize: every block is a multiple of this. */
export const MIN_BLOCK: Bytes = 512;
/** kSmallSize: the largest rounded size that goes to the small pool. */
export const SMALL_SIZE: Bytes = 1_048_576;
/** kSmallBuffer: a small-pool segment, and an expandable segment's page there. */
export const SMALL_SEGMENT: Bytes = 2_097_152;
/** kMinLargeAlloc: from here on a request gets a segment of its own size. */
const MIN_LARGE: Bytes = 10_485_760;
/** kRoundLarge: such a segment is a multiple of this. */
const ROUND_LARGE: Bytes = 2_097_152;

/** The size classes of roundup_power2_divisions start at 1 MiB: index 0 holds everything below 2 MiB. */
const FIRST_CLASS_LOG2 = 20;
const SIZE_CLASSES = 16;

function floorLog2(value: number): number {
  // Math.log2 is exact at powers of two but may round up just below one; correct downwards.
  let log = Math.floor(Math.log2(value));
  if (2 ** log > value) log--;
  return log;
}

function roundUpToDivision(size: Bytes, divisions: number): Bytes {
  const floor = 2 ** floorLog2(size);
  if (floor === size) return size;
  const step = floor / divisions;
  return Math.ceil(size / step) * step;
}

/** `round_size`: the bytes a request takes from its block. */
export function roundSize(size: Bytes, settings: AllocatorSettings): Bytes {
  if (size < MIN_BLOCK) return MIN_BLOCK;
  if (settings.rounds) {
    const at = Math.min(Math.max(floorLog2(size) - FIRST_CLASS_LOG2, 0), SIZE_CLASSES - 1);
    const divisions = settings.roundupPower2Divisions[at]!;
    if (divisions > 1 && size > MIN_BLOCK * divisions) return roundUpToDivision(size, divisions);
  }
  return Math.ceil(size / MIN_BLOCK) * MIN_BLOCK;
}

/** `get_allocation_size`: the segment asked of the device when no cached block serves a rounded size. */
export function segmentSize(rounded: Bytes, settings: AllocatorSettings): Bytes {
  if (rounded <= SMALL_SIZE) return SMALL_SEGMENT;
  if (rounded < MIN_LARGE) return settings.largeSegment;
  return Math.ceil(rounded / ROUND_LARGE) * ROUND_LARGE;
}
