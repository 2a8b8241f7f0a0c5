import { roundSize, SMALL_SIZE } from "../allocator/rounding.ts";
import type { AllocatorSettings } from "../allocator/settings.ts";
import { BLOCK_STATES } from "../snapshot/records.ts";
import type { SegmentColumns } from "../snapshot/segments.ts";
import type { Tape } from "../tape/tape.ts";
import { Action } from "../tape/vocabulary.ts";
import type { Fragmentation } from "./result.ts";

const INACTIVE = BLOCK_STATES.indexOf("inactive");

/** A stretch of reserved device memory. */
interface Range {
  start: number;
  end: number;
}

/** The final state as the snapshot lists it: exact, block by block. */
export function finalLayout(segments: SegmentColumns): Fragmentation {
  const { blocks, firstBlock } = segments;
  let reserved = 0;
  let free = 0;
  let freeBlocks = 0;
  let largestFree = 0;
  let trapped = 0;
  for (let at = 0; at < segments.length; at++) {
    reserved += segments.bytes[at]!;
    let here = 0;
    for (let block = firstBlock[at]!; block < firstBlock[at + 1]!; block++) {
      if (blocks.state[block] !== INACTIVE) continue;
      here += blocks.bytes[block]!;
      freeBlocks++;
      largestFree = Math.max(largestFree, blocks.bytes[block]!);
    }
    free += here;
    if (here < segments.bytes[at]!) trapped += here;
  }
  return { reserved, active: reserved - free, free, freeBlocks, largestFree, trapped };
}

/**
 * How reserved memory was cut up after `row`, from the recorded addresses. Null for a tape without segment rows.
 *
 * A block's real size is not recorded: it is the rounded request, plus a remainder the allocator chose not to split
 * off. A gap no larger than that remainder can be, right behind a live block, is counted as part of the block.
 */
export function layoutAt(tape: Tape, row: number, settings: AllocatorSettings): Fragmentation | null {
  const ranges = rangesAt(tape, row);
  if (ranges.length === 0) return null;
  const live = heldAt(tape, row);
  const { address, bytes } = tape.columns;
  live.sort((a, b) => address[a]! - address[b]!);

  let reserved = 0;
  let free = 0;
  let freeBlocks = 0;
  let largestFree = 0;
  let trapped = 0;
  let next = 0;
  for (const range of ranges) {
    reserved += range.end - range.start;
    let holes = 0;
    let at = range.start;
    let slack = 0;
    const gap = (end: number): void => {
      const size = end - at;
      if (size <= slack || size <= 0) return;
      holes += size;
      freeBlocks++;
      if (size > largestFree) largestFree = size;
    };
    while (next < live.length && address[live[next]!]! < range.start) next++;
    for (; next < live.length && address[live[next]!]! < range.end; next++) {
      const alloc = live[next]!;
      gap(address[alloc]!);
      const rounded = roundSize(bytes[alloc]!, settings);
      at = Math.max(at, address[alloc]! + rounded);
      slack = unsplit(rounded, settings);
    }
    gap(range.end);
    free += holes;
    if (holes < range.end - range.start) trapped += holes;
  }
  return { reserved, active: reserved - free, free, freeBlocks, largestFree, trapped };
}

/** The most a block can keep beyond what was asked: `should_split` leaves up to kSmallSize in the large pool. */
function unsplit(rounded: number, settings: AllocatorSettings): number {
  if (rounded <= SMALL_SIZE) return 0;
  return rounded >= settings.maxSplit ? settings.largeSegment : SMALL_SIZE;
}

/** The reserved ranges after `row`, by address; those that touch are one only where pages were mapped singly. */
function rangesAt(tape: Tape, row: number): Range[] {
  const { action, address, bytes } = tape.columns;
  const segments = new Map<number, Range>();
  const pages: Range[] = [];
  for (let at = 0; at <= row; at++) {
    const start = address[at]!;
    const end = start + bytes[at]!;
    switch (action[at]) {
      case Action.segment_alloc:
        segments.set(start, { start, end });
        break;
      case Action.segment_free:
        segments.delete(start);
        break;
      case Action.segment_map:
        map(pages, start, end);
        break;
      case Action.segment_unmap:
        unmap(pages, start, end);
        break;
    }
  }
  return [...segments.values(), ...pages].sort((a, b) => a.start - b.start);
}

/** First range that ends at or after `address`. */
function find(pages: readonly Range[], address: number): number {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pages[middle]!.end < address) low = middle + 1;
    else high = middle;
  }
  return low;
}

function map(pages: Range[], start: number, end: number): void {
  const first = find(pages, start);
  let last = first;
  while (last < pages.length && pages[last]!.start <= end) last++;
  const joined = { start: Math.min(start, pages[first]?.start ?? start), end };
  if (last > first) joined.end = Math.max(end, pages[last - 1]!.end);
  else joined.start = start;
  pages.splice(first, last - first, joined);
}

function unmap(pages: Range[], start: number, end: number): void {
  const first = find(pages, start + 1);
  let last = first;
  const left: Range[] = [];
  for (; last < pages.length && pages[last]!.start < end; last++) {
    const page = pages[last]!;
    if (page.start < start) left.push({ start: page.start, end: start });
    if (page.end > end) left.push({ start: end, end: page.end });
  }
  pages.splice(first, last - first, ...left);
}

/** Alloc rows of the storages whose block was taken after `row`: pending frees hold theirs. */
function heldAt(tape: Tape, row: number): Int32Array {
  const { action, storage } = tape.columns;
  const held = new Map<number, number>();
  for (let at = 0; at <= row; at++) {
    if (action[at] === Action.alloc) held.set(storage[at]!, at);
    else if (action[at] === Action.free || action[at] === Action.free_completed) held.delete(storage[at]!);
  }
  return Int32Array.from(held.values());
}
