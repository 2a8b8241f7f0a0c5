import { UserError } from "../base/errors.ts";

/** Different in every process, so that no file can be made whose stacks all fall on one slot. */
const SEED = (Math.random() * 2 ** 32) | 0;

/** Runs of integers as small integers: a frame is (name, file, line), a stack a run of frames. Id 0 is the empty run. */
export class Tuples {
  #items = new Int32Array(1 << 12);
  #used = 0;
  /** Tuple i lies at #starts[i] to #starts[i + 1]. */
  #starts = new Int32Array(1 << 10);
  #hashes = new Int32Array(1 << 10);
  #count = 1;
  #slots = new Int32Array(1 << 11);

  get size(): number {
    return this.#count;
  }

  id(source: Int32Array, length: number): number {
    if (length === 0) return 0;
    let hash = length ^ SEED;
    for (let i = 0; i < length; i++) hash = Math.imul(hash ^ source[i]!, 0x9e3779b1) ^ (hash >>> 13);
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const id = this.#slots[slot]!;
      if (this.#hashes[id] === hash && this.#equals(id, source, length)) return id;
    }
    return this.#add(source, length, hash, slot);
  }

  items(id: number): Int32Array {
    return this.#items.subarray(this.#starts[id], this.#starts[id + 1]);
  }

  #equals(id: number, source: Int32Array, length: number): boolean {
    const start = this.#starts[id]!;
    if (this.#starts[id + 1]! - start !== length) return false;
    const items = this.#items;
    for (let i = 0; i < length; i++) if (items[start + i] !== source[i]) return false;
    return true;
  }

  #add(source: Int32Array, length: number, hash: number, slot: number): number {
    const end = this.#used + length;
    if (end > 1 << 28) throw new UserError("the stacks hold more than 268 million distinct frames");
    if (end > this.#items.length) this.#items = resized(this.#items, Math.max(end, this.#items.length * 2));
    this.#items.set(source.subarray(0, length), this.#used);
    const id = this.#count++;
    if (id + 1 >= this.#starts.length) {
      this.#starts = resized(this.#starts, this.#starts.length * 2);
      this.#hashes = resized(this.#hashes, this.#hashes.length * 2);
    }
    this.#starts[id + 1] = this.#used = end;
    this.#hashes[id] = hash;
    this.#slots[slot] = id;
    if (this.#count * 2 > this.#slots.length) this.#rehash();
    return id;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let id = 1; id < this.#count; id++) {
      let slot = this.#hashes[id]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id;
    }
    this.#slots = slots;
  }
}

function resized(old: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const next = new Int32Array(capacity);
  next.set(old);
  return next;
}
