import { UserError } from "../base/errors.ts";
import { MAX_STRINGS_BYTES } from "./limits.ts";

/** Different in every process, so that no file can be made whose strings all fall on one slot. */
const SEED = (Math.random() * 2 ** 32) | 0;

/**
 * UTF-8 byte strings as small integers. A hit compares bytes and makes no JavaScript string: PyTorch writes a fresh
 * "N/A" for every event.
 */
export class ByteStrings {
  #bytes = new Uint8Array(1 << 16);
  #used = 0;
  /** Where string i starts in #bytes; string i ends where i + 1 starts. */
  #starts = new Int32Array(1 << 10);
  #count = 0;
  /** Open addressing: id + 1, or 0 for an empty slot. */
  #slots = new Int32Array(1 << 11);
  #hashes = new Int32Array(1 << 10);
  readonly #texts: string[] = [];
  readonly #decoder = new TextDecoder("utf-8");

  constructor(known: readonly string[]) {
    const encoder = new TextEncoder();
    for (const text of known) {
      const bytes = encoder.encode(text);
      this.id(bytes, 0, bytes.length);
    }
  }

  id(source: Uint8Array, from: number, to: number): number {
    let hash = (to - from) ^ SEED;
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ source[i]!, 0x01000193);
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      const id = this.#slots[slot]! - 1;
      if (this.#hashes[id] === hash && this.#equals(id, source, from, to)) return id;
    }
    return this.#add(source, from, to, hash, slot);
  }

  text(id: number): string {
    return (this.#texts[id] ??= this.#decoder.decode(
      this.#bytes.subarray(this.#starts[id], this.#starts[id + 1]),
    ));
  }

  #equals(id: number, source: Uint8Array, from: number, to: number): boolean {
    const start = this.#starts[id]!;
    if (this.#starts[id + 1]! - start !== to - from) return false;
    const bytes = this.#bytes;
    for (let i = from, j = start; i < to; i++, j++) if (bytes[j] !== source[i]) return false;
    return true;
  }

  #add(source: Uint8Array, from: number, to: number, hash: number, slot: number): number {
    const end = this.#used + to - from;
    if (end > MAX_STRINGS_BYTES) throw new UserError(`the strings take more than ${MAX_STRINGS_BYTES} bytes`);
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, this.#used));
      this.#bytes = grown;
    }
    this.#bytes.set(source.subarray(from, to), this.#used);
    const id = this.#count++;
    if (id + 1 === this.#starts.length) {
      this.#starts = doubled(this.#starts);
      this.#hashes = doubled(this.#hashes);
    }
    this.#starts[id + 1] = this.#used = end;
    this.#hashes[id] = hash;
    this.#slots[slot] = id + 1;
    if (this.#count * 2 > this.#slots.length) this.#rehash();
    return id;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#count; id++) {
      let slot = this.#hashes[id]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }
}

function doubled(old: Int32Array): Int32Array<ArrayBuffer> {
  const next = new Int32Array(old.length * 2);
  next.set(old);
  return next;
}
