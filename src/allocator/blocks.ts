import type { Bytes } from "../base/units.ts";

/** No block: the end of a segment's chain. */
export const NONE = -1;

export const FREE = 0;
export const ALLOCATED = 1;
/** Freed by its owner, still used on another stream: active, but neither allocated nor reusable. */
export const PENDING = 2;
/** The index is spare. */
const GONE = 3;

/**
 * The blocks of all segments, one index a block, fields as typed arrays. Indices are reused, so memory is
 * linear in the blocks alive at once. Within a segment blocks are a doubly linked list in address order.
 */
export class Blocks {
  address = new Float64Array(1024);
  size = new Float64Array(1024);
  requested = new Float64Array(1024);
  prev = new Int32Array(1024);
  next = new Int32Array(1024);
  /** FREE, ALLOCATED or PENDING. */
  state = new Uint8Array(1024);
  /** 1 when backed by memory; 0 only inside an expandable segment. */
  mapped = new Uint8Array(1024);
  /** Index of the bin (pool and stream) the block belongs to. */
  bin = new Uint16Array(1024);
  /** Base address of the expandable segment, or -1 in an ordinary one. */
  base = new Float64Array(1024);
  /** The pool's search count when the block was last put among the free ones. */
  born = new Float64Array(1024);
  readonly #spare: number[] = [];
  #used = 0;

  create(address: number, size: Bytes, bin: number, base: number): number {
    const block = this.#spare.pop() ?? this.#used++;
    if (block === this.size.length) this.#grow();
    this.address[block] = address;
    this.size[block] = size;
    this.requested[block] = 0;
    this.prev[block] = NONE;
    this.next[block] = NONE;
    this.state[block] = FREE;
    this.mapped[block] = 1;
    this.bin[block] = bin;
    this.base[block] = base;
    this.born[block] = 0;
    return block;
  }

  drop(block: number): void {
    this.state[block] = GONE;
    this.#spare.push(block);
  }

  /** The indices in use, in no order. */
  *alive(): Generator<number> {
    for (let block = 0; block < this.#used; block++) if (this.state[block] !== GONE) yield block;
  }

  /** Links `block` between two neighbours, either of which may be NONE. */
  link(before: number, block: number, after: number): void {
    this.prev[block] = before;
    this.next[block] = after;
    if (before !== NONE) this.next[before] = block;
    if (after !== NONE) this.prev[after] = block;
  }

  isSplit(block: number): boolean {
    return this.prev[block] !== NONE || this.next[block] !== NONE;
  }

  #grow(): void {
    const capacity = this.size.length * 2;
    this.address = widen(this.address, new Float64Array(capacity));
    this.size = widen(this.size, new Float64Array(capacity));
    this.requested = widen(this.requested, new Float64Array(capacity));
    this.prev = widen(this.prev, new Int32Array(capacity));
    this.next = widen(this.next, new Int32Array(capacity));
    this.state = widen(this.state, new Uint8Array(capacity));
    this.mapped = widen(this.mapped, new Uint8Array(capacity));
    this.bin = widen(this.bin, new Uint16Array(capacity));
    this.base = widen(this.base, new Float64Array(capacity));
    this.born = widen(this.born, new Float64Array(capacity));
  }
}

function widen<T extends { set(from: T): void }>(old: T, next: T): T {
  next.set(old);
  return next;
}
