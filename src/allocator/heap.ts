import { assert } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { Blocks, FREE, NONE } from "./blocks.ts";
import { Counters } from "./counters.ts";
import { FreeSet } from "./free-set.ts";
import { SMALL_SEGMENT } from "./rounding.ts";
import type { AllocatorSettings } from "./settings.ts";

export type SegmentAction = "segment_alloc" | "segment_free" | "segment_map" | "segment_unmap";

/** Hears of every segment taken from or given back to the device; `stream` is the raw handle. */
export type SegmentListener = (action: SegmentAction, address: number, bytes: Bytes, stream: number) => void;

/** Where the device puts a new segment, or a new expandable segment's range. */
export type Placement = (action: "segment_alloc" | "segment_map", bytes: Bytes, stream: number) => number;

export interface Limits {
  /** set_per_process_memory_fraction's limit; null when no fraction is set. */
  readonly allowed: Bytes | null;
  /** What the device can give this process's allocator at most; null for no limit. */
  readonly capacity: Bytes | null;
}

export interface Pool {
  readonly small: boolean;
  /** Its bins in the order of the stream handles, which is how torch walks a pool. */
  readonly bins: Bin[];
  /** `get_free_blocks_call_count`: the clock of garbage collection. */
  searches: number;
}

/** The free and the unmapped blocks of one pool on one stream. */
export interface Bin {
  readonly index: number;
  readonly pool: Pool;
  readonly stream: number;
  readonly free: FreeSet;
  /** By address. Few: one a gap in an expandable segment. */
  readonly unmapped: number[];
}

/** The state that allocation, release and expandable segments share, and the steps common to them. */
export class Heap {
  readonly blocks = new Blocks();
  readonly counters = new Counters();
  readonly small: Pool = { small: true, bins: [], searches: 0 };
  readonly large: Pool = { small: false, bins: [], searches: 0 };
  readonly bins: Bin[] = [];
  /** Garbage collection, and its clock, run only with a threshold and a memory fraction. */
  readonly collects: boolean;
  readonly settings: AllocatorSettings;
  readonly limits: Limits;
  readonly place: Placement;
  readonly onSegment: SegmentListener;

  constructor(settings: AllocatorSettings, limits: Limits, place: Placement, onSegment: SegmentListener) {
    this.collects = settings.gcThreshold > 0 && limits.allowed !== null;
    this.settings = settings;
    this.limits = limits;
    this.place = place;
    this.onSegment = onSegment;
  }

  bin(pool: Pool, stream: number): Bin {
    const found = pool.bins.find((bin) => bin.stream === stream);
    if (found) return found;
    const bin: Bin = { index: this.bins.length, pool, stream, free: new FreeSet(this.blocks), unmapped: [] };
    this.bins.push(bin);
    pool.bins.push(bin);
    pool.bins.sort((a, b) => a.stream - b.stream);
    return bin;
  }

  page(pool: Pool): Bytes {
    return pool.small ? SMALL_SEGMENT : this.settings.largeSegment;
  }

  insertFree(block: number): void {
    const bin = this.bins[this.blocks.bin(block)]!;
    if (this.collects) this.blocks.setBorn(block, bin.pool.searches);
    bin.free.insert(block);
  }

  insertUnmapped(block: number): void {
    const { unmapped } = this.bins[this.blocks.bin(block)]!;
    const address = this.blocks.address(block);
    const at = unmapped.findIndex((other) => this.blocks.address(other) > address);
    unmapped.splice(at < 0 ? unmapped.length : at, 0, block);
  }

  removeUnmapped(block: number): void {
    const { unmapped } = this.bins[this.blocks.bin(block)]!;
    const at = unmapped.indexOf(block);
    assert(at >= 0, "an unmapped block is in its bin");
    unmapped.splice(at, 1);
  }

  /**
   * Takes the neighbour `other` into `block` when it is free and equally mapped; returns its bytes, or 0.
   * `block` itself must be in no set.
   */
  merge(block: number, other: number): Bytes {
    const { blocks } = this;
    if (other === NONE || blocks.state(other) !== FREE || blocks.isMapped(other) !== blocks.isMapped(block))
      return 0;
    if (blocks.isMapped(other)) this.bins[blocks.bin(other)]!.free.remove(other);
    else this.removeUnmapped(other);
    const size = blocks.size(other);
    if (blocks.prev(block) === other) {
      blocks.setAddress(block, blocks.address(other));
      blocks.link(blocks.prev(other), block, blocks.next(block));
    } else {
      blocks.link(blocks.prev(block), block, blocks.next(other));
    }
    blocks.setSize(block, blocks.size(block) + size);
    blocks.drop(other);
    return size;
  }

  /** Whether the device itself has this much left. */
  deviceHas(bytes: Bytes): boolean {
    const { capacity } = this.limits;
    return capacity === null || this.counters.reserved.current + bytes <= capacity;
  }

  took(action: "segment_alloc" | "segment_map", address: number, bytes: Bytes, stream: number): void {
    this.counters.reserved.add(bytes);
    this.counters.deviceAllocs++;
    this.onSegment(action, address, bytes, stream);
  }

  gave(action: "segment_free" | "segment_unmap", address: number, bytes: Bytes, stream: number): void {
    this.counters.reserved.add(-bytes);
    this.counters.deviceFrees++;
    this.onSegment(action, address, bytes, stream);
  }
}
