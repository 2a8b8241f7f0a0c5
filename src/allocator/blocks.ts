import type { Bytes } from "../base/units.ts";

/** No block: the end of a segment's chain. */
export const NONE = -1;

export const FREE = 0;
export const ALLOCATED = 1;
/** Freed by its owner, still used on another stream: active, but neither allocated nor reusable. */
export const PENDING = 2;
/** The index is spare. */
const GONE = 3;

// A block's fields lie together, so that a visit touches two cache lines and not ten.
const WIDE = 4;
const ADDRESS = 0;
const SIZE = 1;
const REQUESTED = 2;
const BASE = 3;

const NARROW = 4;
const PREV = 0;
const NEXT = 1;
const BIN = 2;
/** The state, plus this when unmapped. */
const STATE = 3;
const UNMAPPED = 4;

/**
 * The blocks of all segments, one index a block. Indices are reused, so memory is linear in the blocks alive at
 * once. Within a segment blocks are a doubly linked list in address order.
 */
export class Blocks {
  #wide = new Float64Array(1024 * WIDE);
  #narrow = new Int32Array(1024 * NARROW);
  /** Only garbage collection reads it. */
  #born = new Float64Array(1024);
  readonly #spare: number[] = [];
  #used = 0;

  /** A free, mapped block that is linked to nothing. */
  create(address: number, size: Bytes, bin: number, base: number): number {
    const block = this.#spare.length > 0 ? this.#spare.pop()! : this.#used++;
    if (block === this.#born.length) this.#grow();
    const wide = block * WIDE;
    this.#wide[wide + ADDRESS] = address;
    this.#wide[wide + SIZE] = size;
    this.#wide[wide + REQUESTED] = 0;
    this.#wide[wide + BASE] = base;
    const narrow = block * NARROW;
    this.#narrow[narrow + PREV] = NONE;
    this.#narrow[narrow + NEXT] = NONE;
    this.#narrow[narrow + BIN] = bin;
    this.#narrow[narrow + STATE] = FREE;
    return block;
  }

  drop(block: number): void {
    this.#narrow[block * NARROW + STATE] = GONE;
    this.#spare.push(block);
  }

  /** The indices in use, in no order. */
  *alive(): Generator<number> {
    for (let block = 0; block < this.#used; block++) if (this.state(block) !== GONE) yield block;
  }

  address(block: number): number {
    return this.#wide[block * WIDE + ADDRESS]!;
  }

  setAddress(block: number, address: number): void {
    this.#wide[block * WIDE + ADDRESS] = address;
  }

  size(block: number): Bytes {
    return this.#wide[block * WIDE + SIZE]!;
  }

  setSize(block: number, size: Bytes): void {
    this.#wide[block * WIDE + SIZE] = size;
  }

  requested(block: number): Bytes {
    return this.#wide[block * WIDE + REQUESTED]!;
  }

  setRequested(block: number, bytes: Bytes): void {
    this.#wide[block * WIDE + REQUESTED] = bytes;
  }

  /** Base address of the expandable segment, or -1 in an ordinary one. */
  base(block: number): number {
    return this.#wide[block * WIDE + BASE]!;
  }

  prev(block: number): number {
    return this.#narrow[block * NARROW + PREV]!;
  }

  next(block: number): number {
    return this.#narrow[block * NARROW + NEXT]!;
  }

  /** Index of the bin (pool and stream) the block belongs to. */
  bin(block: number): number {
    return this.#narrow[block * NARROW + BIN]!;
  }

  /** FREE, ALLOCATED or PENDING. */
  state(block: number): number {
    return this.#narrow[block * NARROW + STATE]! & ~UNMAPPED;
  }

  /** Of a mapped block: only those change hands. */
  setState(block: number, state: number): void {
    this.#narrow[block * NARROW + STATE] = state;
  }

  /** False only inside an expandable segment: address space without memory behind it. */
  isMapped(block: number): boolean {
    return (this.#narrow[block * NARROW + STATE]! & UNMAPPED) === 0;
  }

  /** Of a free block. */
  setMapped(block: number, mapped: boolean): void {
    this.#narrow[block * NARROW + STATE] = mapped ? FREE : FREE | UNMAPPED;
  }

  /** The pool's search count when the block was last put among the free ones. */
  born(block: number): number {
    return this.#born[block]!;
  }

  setBorn(block: number, searches: number): void {
    this.#born[block] = searches;
  }

  /** Links `block` between two neighbours, either of which may be NONE. */
  link(before: number, block: number, after: number): void {
    const narrow = this.#narrow;
    narrow[block * NARROW + PREV] = before;
    narrow[block * NARROW + NEXT] = after;
    if (before !== NONE) narrow[before * NARROW + NEXT] = block;
    if (after !== NONE) narrow[after * NARROW + PREV] = block;
  }

  isSplit(block: number): boolean {
    return this.prev(block) !== NONE || this.next(block) !== NONE;
  }

  #grow(): void {
    const capacity = this.#born.length * 2;
    this.#wide = widen(this.#wide, new Float64Array(capacity * WIDE));
    this.#narrow = widen(this.#narrow, new Int32Array(capacity * NARROW));
    this.#born = widen(this.#born, new Float64Array(capacity));
  }
}

function widen<T extends { set(from: T): void }>(old: T, next: T): T {
  next.set(old);
  return next;
}
