import type { Bytes } from "../base/units.ts";
import { NONE } from "./blocks.ts";
import { unmap } from "./expandable.ts";
import type { Bin, Heap, Pool } from "./heap.ts";

function releaseSegment(heap: Heap, bin: Bin, block: number): void {
  const { blocks } = heap;
  bin.free.remove(block);
  heap.gave("segment_free", blocks.address(block), blocks.size(block), bin.stream);
  blocks.drop(block);
}

function releasePool(heap: Heap, pool: Pool): void {
  const { blocks } = heap;
  const expandable: [Bin, number][] = [];
  for (const bin of pool.bins) {
    for (const block of bin.free.list()) {
      if (blocks.base(block) >= 0) expandable.push([bin, block]);
      else if (!blocks.isSplit(block)) releaseSegment(heap, bin, block);
    }
  }
  for (const [bin, block] of expandable) unmap(heap, bin, block);
}

/** `release_cached_blocks`, what empty_cache does: every wholly free segment, and every wholly free page. */
export function releaseAll(heap: Heap): void {
  releasePool(heap, heap.large);
  releasePool(heap, heap.small);
}

/**
 * `release_available_cached_blocks`: with a split limit, the one oversize block that would make room, or
 * else the largest oversize ones until they add up. False when that is not enough.
 */
export function releaseOversize(heap: Heap, bin: Bin, size: Bytes): boolean {
  const { maxSplit } = heap.settings;
  if (maxSplit === Infinity) return false;
  const { blocks } = heap;
  const wanted = Math.max(size, maxSplit);
  const one = bin.free.ceil(wanted);
  if (one !== NONE && blocks.base(one) < 0) {
    releaseSegment(heap, bin, one);
    return true;
  }
  let released = 0;
  for (const block of bin.free.list().toReversed()) {
    if (one !== NONE && blocks.size(block) >= blocks.size(one)) continue;
    if (released >= wanted || blocks.size(block) < maxSplit) break;
    if (blocks.base(block) >= 0) continue;
    released += blocks.size(block);
    releaseSegment(heap, bin, block);
  }
  return released >= wanted;
}

/** Reserved bytes above the threshold's share of what is allowed. */
export function excessOf({ counters, settings, limits }: Heap): Bytes {
  return counters.reserved.current - Math.floor(settings.gcThreshold * limits.allowed!);
}

/** What garbage collection may free: wholly free segments of the large pool. */
export function garbage(heap: Heap): { readonly bin: Bin; readonly block: number }[] {
  return heap.large.bins.flatMap((bin) =>
    bin.free
      .list()
      .filter((block) => !heap.blocks.isSplit(block))
      .map((block) => ({ bin, block })),
  );
}

/**
 * `garbage_collect_cached_blocks`: when more than the threshold's share of the allowed memory is reserved,
 * frees the garbage that has lain unused longer than the mean, again and again until the excess is gone.
 */
export function collectGarbage(heap: Heap): void {
  const { blocks, large } = heap;
  const excess = excessOf(heap);
  if (excess <= 0) return;
  const age = (block: number): number => large.searches - blocks.born(block);
  let candidates = garbage(heap);
  let total = candidates.reduce((sum, { block }) => sum + age(block), 0);
  let reclaimed = 0;
  while (reclaimed < excess && candidates.length > 0) {
    const mean = total / candidates.length;
    const kept: typeof candidates = [];
    for (const candidate of candidates) {
      const { bin, block } = candidate;
      if (age(block) < mean) {
        kept.push(candidate);
        continue;
      }
      reclaimed += blocks.size(block);
      total -= age(block);
      releaseSegment(heap, bin, block);
    }
    // The oldest is never below the mean, so every round frees one at least.
    candidates = kept;
  }
}
