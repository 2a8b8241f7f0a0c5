import { UserError, assert } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { ALLOCATED, FREE, NONE, PENDING } from "./blocks.ts";
import type { Stats } from "./counters.ts";
import { growExpandable } from "./expandable.ts";
import { Heap, type Bin, type Limits, type Placement, type SegmentListener } from "./heap.ts";
import { explainOom, type OutOfMemory } from "./oom.ts";
import { collectGarbage, excessOf, garbage, releaseAll, releaseOversize } from "./release.ts";
import { MIN_BLOCK, SMALL_SIZE, roundSize, segmentSize } from "./rounding.ts";
import type { AllocatorSettings } from "./settings.ts";

export interface AllocatorOptions {
  readonly settings: AllocatorSettings;
  /** The memory fraction's limit in bytes; omit when the run sets none. */
  readonly allowed?: Bytes | null;
  /** What the device has for this allocator: its memory less the context and other processes. */
  readonly capacity?: Bytes | null;
  /** Total memory of the device, which sizes expandable ranges. */
  readonly deviceMemory?: Bytes;
  readonly place?: Placement;
  readonly onSegment?: SegmentListener;
  /** Called before a full release: completes the frees that wait for other streams, as torch's synchronisation does. */
  readonly onSynchronize?: () => void;
}

export interface BlockView {
  readonly address: number;
  readonly size: Bytes;
  readonly state: "free" | "allocated" | "pending";
  /** False for address space without memory behind it, inside an expandable segment. */
  readonly mapped: boolean;
  readonly stream: number;
  /** The first of its segment. */
  readonly head: boolean;
}

/** Only sizes address ranges: a card no smaller than any sold, so that a range never runs out. */
const ANY_DEVICE: Bytes = 2 ** 40;
/** Below which predicted segments lie, and the step between them: multiples of every page size. */
const HIGHEST_ADDRESS = 2 ** 46;
const ADDRESS_STEP: Bytes = 2 ** 25;

/** Beyond any device, and small enough that addresses stay exact. */
const LARGEST: Bytes = 2 ** 44;

/**
 * New segments at decreasing addresses, 32 MiB apart at least, as cudaMalloc gives them in recorded histories:
 * what a prediction assumes where a replay knows. The order decides which of two equal blocks is taken.
 */
function decreasing(): Placement {
  let lowest = HIGHEST_ADDRESS;
  return (_action, bytes) => {
    lowest -= Math.ceil(bytes / ADDRESS_STEP) * ADDRESS_STEP;
    return lowest;
  };
}

/** PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp) for one device, without the device. */
export class Allocator {
  readonly #heap: Heap;
  readonly #deviceMemory: Bytes;
  readonly #synchronize: () => void;
  // The last request's bin, because streams rarely change.
  #bins: { stream: number; small: Bin; large: Bin } | undefined;
  /** Why the last `alloc` returned -1. */
  oom: OutOfMemory | null = null;

  constructor(options: AllocatorOptions) {
    const { settings, allowed = null, capacity = null, place = decreasing(), onSegment = () => {} } = options;
    if (settings.backend !== "native") {
      throw new UserError(
        `backend:${settings.backend} cannot be simulated`,
        "leave the setting out, or use backend:native",
      );
    }
    const limits: Limits = { allowed, capacity };
    this.#heap = new Heap(settings, limits, place, onSegment);
    this.#deviceMemory = options.deviceMemory ?? ANY_DEVICE;
    this.#synchronize = options.onSynchronize ?? (() => {});
  }

  get allocated(): Bytes {
    return this.#heap.counters.allocated.current;
  }

  get reserved(): Bytes {
    return this.#heap.counters.reserved.current;
  }

  stats(): Stats {
    return this.#heap.counters.snapshot();
  }

  addressOf(block: number): number {
    return this.#heap.blocks.address(block);
  }

  /**
   * A block for `bytes` on the stream with this handle, or -1: then `oom` says why. `search` is false in a replay
   * that knows the cache had nothing.
   */
  alloc(bytes: Bytes, stream = 0, search = true): number {
    if (!(bytes >= 0 && bytes <= LARGEST)) {
      throw new UserError(
        `an allocation of ${bytes} bytes`,
        "no device has so much: the history is damaged or forged",
      );
    }
    const heap = this.#heap;
    const size = roundSize(bytes, heap.settings);
    const bin = this.#binFor(size, stream);
    let block = this.#findFree(bin, size, search);
    if (block === NONE) block = this.#obtain(bin, size);
    if (block === NONE) {
      heap.counters.ooms++;
      this.oom = explainOom(heap, bin, bytes, size);
      return NONE;
    }
    return this.#handOut(bin, block, bytes, size);
  }

  free(block: number): void {
    this.requestFree(block);
    this.completeFree(block);
  }

  /** The owner lets go while another stream still uses the block. */
  requestFree(block: number): void {
    const { blocks, counters } = this.#heap;
    assert(blocks.state(block) === ALLOCATED, "only an allocated block is freed");
    blocks.setState(block, PENDING);
    counters.allocated.add(-blocks.size(block));
  }

  completeFree(block: number): void {
    const heap = this.#heap;
    const { blocks, counters } = heap;
    assert(blocks.state(block) === PENDING, "a free completes once, after its request");
    counters.active.add(-blocks.size(block));
    counters.requested.add(-blocks.requested(block));
    blocks.setState(block, FREE);
    let change = -heap.merge(block, blocks.prev(block));
    change -= heap.merge(block, blocks.next(block));
    heap.insertFree(block);
    if (blocks.base(block) < 0) {
      if (blocks.isSplit(block)) change += blocks.size(block);
      counters.inactiveSplit.add(change);
    }
  }

  emptyCache(): void {
    this.#synchronize();
    releaseAll(this.#heap);
  }

  /** Whether an `alloc` of these bytes would be served from the cache. Changes nothing. */
  hasCached(bytes: Bytes, stream: number): boolean {
    const size = roundSize(bytes, this.#heap.settings);
    return this.#bestFit(this.#binFor(size, stream), size) !== NONE;
  }

  /** Whether a new segment for these bytes would go beyond the limits, so that the cache is released first. */
  isOverLimit(bytes: Bytes): boolean {
    const { counters, limits, settings } = this.#heap;
    const limit = Math.min(limits.allowed ?? Infinity, limits.capacity ?? Infinity);
    return counters.reserved.current + segmentSize(roundSize(bytes, settings), settings) > limit;
  }

  /** Whether garbage collection would free anything at a miss. */
  hasGarbage(): boolean {
    return this.#heap.collects && excessOf(this.#heap) > 0 && garbage(this.#heap).length > 0;
  }

  /** Every block in address order: for checks, not for speed. */
  walk(): BlockView[] {
    const { blocks, bins } = this.#heap;
    const views = Array.from(blocks.alive(), (block): BlockView => ({
      address: blocks.address(block),
      size: blocks.size(block),
      state: (["free", "allocated", "pending"] as const)[blocks.state(block)]!,
      mapped: blocks.isMapped(block),
      stream: bins[blocks.bin(block)]!.stream,
      head: blocks.prev(block) === NONE,
    }));
    return views.toSorted((a, b) => a.address - b.address);
  }

  #binFor(size: Bytes, stream: number): Bin {
    let bins = this.#bins;
    if (bins === undefined || bins.stream !== stream) {
      const heap = this.#heap;
      bins = this.#bins = {
        stream,
        small: heap.bin(heap.small, stream),
        large: heap.bin(heap.large, stream),
      };
    }
    return size <= SMALL_SIZE ? bins.small : bins.large;
  }

  /** `get_free_block`, without taking it: leaves the bin's cursor on the block it returns. */
  #bestFit(bin: Bin, size: Bytes): number {
    const { blocks, settings } = this.#heap;
    let block = bin.free.ceil(size);
    if (block === NONE) return NONE;
    if (settings.expandable) {
      // The open end of a segment counts with the address space behind it, so that it is used last.
      for (
        let next = bin.free.peekNext();
        next !== NONE && this.#reach(next) < this.#reach(block);
        next = bin.free.peekNext()
      ) {
        bin.free.moveNext();
        block = next;
      }
    }
    const found = blocks.size(block);
    if (size < settings.maxSplit) return found >= settings.maxSplit ? NONE : block;
    return found >= size + settings.maxNonSplitRounding ? NONE : block;
  }

  #findFree(bin: Bin, size: Bytes, search: boolean): number {
    if (this.#heap.collects) bin.pool.searches++;
    const block = search ? this.#bestFit(bin, size) : NONE;
    if (block !== NONE) bin.free.takeHere();
    return block;
  }

  #reach(block: number): Bytes {
    const { blocks } = this.#heap;
    const next = blocks.next(block);
    return blocks.size(block) + (next !== NONE && !blocks.isMapped(next) ? blocks.size(next) : 0);
  }

  /** New memory from the device, after giving back as much as torch does at each try. */
  #obtain(bin: Bin, size: Bytes): number {
    const heap = this.#heap;
    if (heap.collects) collectGarbage(heap);
    let block = this.#takeSegment(bin, size);
    if (block === NONE && releaseOversize(heap, bin, size)) block = this.#takeSegment(bin, size);
    if (block === NONE) {
      this.emptyCache();
      heap.counters.retries++;
      block = this.#takeSegment(bin, size);
    }
    return block;
  }

  #takeSegment(bin: Bin, size: Bytes): number {
    const heap = this.#heap;
    const bytes = segmentSize(size, heap.settings);
    const { allowed } = heap.limits;
    // Expandable segments map less than this as a rule, but torch checks the whole segment's size for them too.
    if (allowed !== null && heap.counters.reserved.current + bytes > allowed) return NONE;
    if (heap.settings.expandable) return growExpandable(heap, bin, size, this.#deviceMemory);
    if (!heap.deviceHas(bytes)) return NONE;
    const address = heap.place("segment_alloc", bytes, bin.stream);
    heap.took("segment_alloc", address, bytes, bin.stream);
    return heap.blocks.create(address, bytes, bin.index, -1);
  }

  /** `should_split` and `alloc_found_block`: the low part is handed out, the rest stays free. */
  #handOut(bin: Bin, block: number, bytes: Bytes, size: Bytes): number {
    const heap = this.#heap;
    const { blocks, counters, settings } = heap;
    const left = blocks.size(block) - size;
    const split =
      bin.pool.small || settings.expandable
        ? left >= MIN_BLOCK
        : size < settings.maxSplit && left > SMALL_SIZE;
    const ordinary = blocks.base(block) < 0;
    const wasSplit = blocks.isSplit(block);
    if (split) {
      const rest = blocks.create(blocks.address(block) + size, left, bin.index, blocks.base(block));
      blocks.link(block, rest, blocks.next(block));
      blocks.setSize(block, size);
      heap.insertFree(rest);
      if (ordinary) counters.inactiveSplit.add(wasSplit ? -size : left);
    } else if (wasSplit && ordinary) {
      counters.inactiveSplit.add(-blocks.size(block));
    }
    blocks.setState(block, ALLOCATED);
    blocks.setRequested(block, bytes);
    counters.allocated.add(blocks.size(block));
    counters.active.add(blocks.size(block));
    counters.requested.add(bytes);
    return block;
  }
}
