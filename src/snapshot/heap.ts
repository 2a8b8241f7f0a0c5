import { UserError } from "../base/errors.ts";
import { MAX_ELEMENTS, MAX_LOOSE, MAX_OBJECTS } from "./limits.ts";

/**
 * A pickle's values without an object for each. A **ref** is one integer: kind in the low three bits, index above.
 * Numbers travel beside their ref in a float column, and are boxed only where a list, a memo or a generic dict holds one.
 */
export const NUMBER = 0;
const CONSTANT = 1;
export const STRING = 2;
export const LIST = 3;
export const DICT = 4;
export const BOXED = 5;

export const NONE = (0 << 3) | CONSTANT;
export const FALSE = (1 << 3) | CONSTANT;
export const TRUE = (2 << 3) | CONSTANT;
/** Bytes and other data a snapshot never asks for: skipped, not kept. */
export const OPAQUE = (3 << 3) | CONSTANT;

/** In `#starts`: the list has become a stack, and `#lengths` holds the stack's id. */
const SEALED = -1;

export class Heap {
  /** Elements of all lists, as refs. A list owns #capacities[i] slots from #starts[i]. */
  #arena = new Int32Array(1 << 14);
  #top = 0;
  #starts = new Int32Array(1 << 10);
  #lengths = new Int32Array(1 << 10);
  #capacities = new Int32Array(1 << 10);
  lists = 0;

  /** What a dict has become: 0 empty, positive a record (see Records), negative ~cell of its newest item. */
  bodies = new Int32Array(1 << 10);
  dicts = 0;
  #keys = new Int32Array(1 << 8);
  #values = new Int32Array(1 << 8);
  #next = new Int32Array(1 << 8);
  #cells = 0;

  #boxes = new Float64Array(1 << 8);
  #boxed = 0;

  /** Room for this many more lists and dicts, so that the machine's loop need not look; false when there are too many. */
  reserve(count: number): boolean {
    const lists = this.lists + count;
    const dicts = this.dicts + count;
    if (lists > MAX_OBJECTS || dicts > MAX_OBJECTS) return false;
    if (lists > this.#starts.length) {
      this.#starts = grownInt(this.#starts, lists);
      this.#lengths = grownInt(this.#lengths, lists);
      this.#capacities = grownInt(this.#capacities, lists);
    }
    if (dicts > this.bodies.length) this.bodies = grownInt(this.bodies, dicts);
    return true;
  }

  newList(): number {
    return (this.lists++ << 3) | LIST;
  }

  newDict(): number {
    return (this.dicts++ << 3) | DICT;
  }

  box(value: number): number {
    if (this.#boxed === this.#boxes.length) {
      if (this.#boxed >= MAX_LOOSE) throw new UserError(`more than ${MAX_LOOSE} numbers outside events`);
      const grown = new Float64Array(this.#boxed * 2);
      grown.set(this.#boxes);
      this.#boxes = grown;
    }
    this.#boxes[this.#boxed] = value;
    return (this.#boxed++ << 3) | BOXED;
  }

  unbox(ref: number): number {
    return this.#boxes[ref >> 3]!;
  }

  isNumber(ref: number): boolean {
    return (ref & 7) === BOXED;
  }

  /** NaN where the ref is no number. */
  number(ref: number): number {
    return this.isNumber(ref) ? this.unbox(ref) : Number.NaN;
  }

  /** False when the list already serves as a stack: picklers fill a list before anything uses it. */
  append(list: number, refs: Int32Array, numbers: Float64Array, from: number, to: number): boolean {
    if (this.#starts[list] === SEALED) return false;
    let at = this.#room(list, to - from);
    for (let i = from; i < to; i++) {
      const ref = refs[i]!;
      const kept = ref === NUMBER ? this.box(numbers[i]!) : ref;
      this.#arena[at++] = kept;
    }
    this.#lengths[list]! += to - from;
    return true;
  }

  isSealed(list: number): boolean {
    return this.#starts[list] === SEALED;
  }

  /** Elements of a list that is not sealed. The array is valid until the next append. */
  items(list: number): Int32Array {
    const start = this.#starts[list]!;
    return this.#arena.subarray(start, start + this.#lengths[list]!);
  }

  /** The stack id of a sealed list. */
  sealOf(list: number): number {
    return this.#lengths[list]!;
  }

  /** Turns a list into a stack; its slots are given back when they are the newest, as they nearly always are. */
  seal(list: number, stack: number): void {
    const start = this.#starts[list]!;
    const end = start + this.#capacities[list]!;
    if (end === this.#top) this.#top = start;
    this.#starts[list] = SEALED;
    this.#lengths[list] = stack;
  }

  #put(dict: number, key: number, value: number): void {
    const cell = this.#cells++;
    if (cell === this.#keys.length) {
      if (cell >= MAX_OBJECTS) throw new UserError(`more than ${MAX_OBJECTS} dict items outside events`);
      this.#keys = grownInt(this.#keys, cell * 2);
      this.#values = grownInt(this.#values, cell * 2);
      this.#next = grownInt(this.#next, cell * 2);
    }
    this.#keys[cell] = key;
    this.#values[cell] = value;
    this.#next[cell] = this.bodies[dict]!;
    this.bodies[dict] = ~cell;
  }

  /** The key, value, key, value … between `from` and `to`, into a dict that is no record. */
  putAll(dict: number, refs: Int32Array, numbers: Float64Array, from: number, to: number): void {
    if (this.bodies[dict]! > 0)
      throw new UserError("an event, frame, block or segment changes after it was complete");
    for (let at = from; at < to; at += 2) {
      const key = refs[at] === NUMBER ? this.box(numbers[at]!) : refs[at]!;
      const value = refs[at + 1] === NUMBER ? this.box(numbers[at + 1]!) : refs[at + 1]!;
      this.#put(dict, key, value);
    }
  }

  /** Calls back with each item of a generic dict, newest first. */
  eachItem(dict: number, visit: (key: number, value: number) => void): void {
    for (let body = this.bodies[dict]!; body < 0; body = this.#next[~body]!) {
      visit(this.#keys[~body]!, this.#values[~body]!);
    }
  }

  /** The place for `count` more elements of the list; amortised, so that no order of appends is quadratic. */
  #room(list: number, count: number): number {
    const start = this.#starts[list]!;
    const length = this.#lengths[list]!;
    const capacity = this.#capacities[list]!;
    const need = length + count;
    if (need <= capacity) return start + length;
    if (capacity > 0 && start + capacity === this.#top) {
      this.#grow(start + need);
      this.#capacities[list] = need;
      this.#top = start + need;
      return start + length;
    }
    const wanted = length === 0 ? need : need * 2;
    const moved = this.#top;
    this.#grow(moved + wanted);
    this.#arena.copyWithin(moved, start, start + length);
    this.#starts[list] = moved;
    this.#capacities[list] = wanted;
    this.#top = moved + wanted;
    return moved + length;
  }

  #grow(top: number): void {
    if (top <= this.#arena.length) return;
    if (top > MAX_ELEMENTS) throw new UserError(`more than ${MAX_ELEMENTS} list elements`);
    this.#arena = grownInt(this.#arena, top);
  }
}

/** At least doubles, so that growth is amortised. */
function grownInt(old: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const next = new Int32Array(Math.max(capacity, old.length * 2));
  next.set(old);
  return next;
}
