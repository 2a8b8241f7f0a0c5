import { assert } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { NONE, type Blocks } from "./blocks.ts";

/** Elements a chunk holds: small enough that shifting one is cheap, large enough that there are few chunks. */
const CHUNK = 64;

interface Chunk {
  count: number;
  /** Sizes beside the ids, so that a search stays within one array until sizes tie. */
  readonly sizes: Float64Array;
  readonly ids: Int32Array;
}

function chunk(): Chunk {
  return { count: 0, sizes: new Float64Array(CHUNK), ids: new Int32Array(CHUNK) };
}

/**
 * Free blocks in the order of torch's BlockComparatorSize within one stream: by size, then by address.
 * Two levels: an array of sorted chunks. A block must leave the set before its size or address changes.
 */
export class FreeSet {
  readonly #blocks: Blocks;
  readonly #chunks: Chunk[] = [];
  #length = 0;
  // Where the last search ended: the first element not before the key.
  #c = 0;
  #p = 0;

  constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  get length(): number {
    return this.#length;
  }

  insert(block: number): void {
    const size = this.#blocks.size[block]!;
    this.#length++;
    if (this.#chunks.length === 0) this.#chunks.push(chunk());
    this.#seek(size, this.#blocks.address[block]!);
    let at = this.#c;
    let position = this.#p;
    if (at === this.#chunks.length) {
      at--;
      position = this.#chunks[at]!.count;
    }
    let target = this.#chunks[at]!;
    if (target.count === CHUNK) {
      const half = CHUNK / 2;
      const upper = chunk();
      upper.sizes.set(target.sizes.subarray(half));
      upper.ids.set(target.ids.subarray(half));
      upper.count = CHUNK - half;
      target.count = half;
      this.#chunks.splice(at + 1, 0, upper);
      if (position > half) {
        target = upper;
        position -= half;
      }
    }
    target.sizes.copyWithin(position + 1, position, target.count);
    target.ids.copyWithin(position + 1, position, target.count);
    target.sizes[position] = size;
    target.ids[position] = block;
    target.count++;
  }

  remove(block: number): void {
    this.#seek(this.#blocks.size[block]!, this.#blocks.address[block]!);
    const found = this.#chunks[this.#c];
    assert(found && found.ids[this.#p] === block, "a block left the free set twice");
    this.#length--;
    found.sizes.copyWithin(this.#p, this.#p + 1, found.count);
    found.ids.copyWithin(this.#p, this.#p + 1, found.count);
    found.count--;
    if (found.count < CHUNK / 4) this.#join(this.#c);
  }

  /** The smallest block of at least `size`, the lowest address among equals; NONE if there is none. */
  ceil(size: Bytes): number {
    this.#seek(size, -1);
    return this.#chunks[this.#c]?.ids[this.#p] ?? NONE;
  }

  /** The block after `block` in the order, or NONE. */
  after(block: number): number {
    this.#seek(this.#blocks.size[block]!, this.#blocks.address[block]!);
    const here = this.#chunks[this.#c]!;
    if (this.#p + 1 < here.count) return here.ids[this.#p + 1]!;
    return this.#chunks[this.#c + 1]?.ids[0] ?? NONE;
  }

  largest(): number {
    const last = this.#chunks.at(-1);
    return last ? last.ids[last.count - 1]! : NONE;
  }

  /** A copy in order, for walks that change the set. */
  list(): number[] {
    return this.#chunks.flatMap((part) => Array.from(part.ids.subarray(0, part.count)));
  }

  /** Empty chunks go; a thin one is poured into a neighbour with room. So no chunk is ever empty. */
  #join(at: number): void {
    const thin = this.#chunks[at]!;
    const next = this.#chunks[at + 1];
    if (next && thin.count + next.count <= CHUNK / 2) {
      thin.sizes.set(next.sizes.subarray(0, next.count), thin.count);
      thin.ids.set(next.ids.subarray(0, next.count), thin.count);
      thin.count += next.count;
      this.#chunks.splice(at + 1, 1);
    } else if (thin.count === 0) {
      this.#chunks.splice(at, 1);
    }
  }

  #seek(size: Bytes, address: number): void {
    const chunks = this.#chunks;
    const addresses = this.#blocks.address;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const part = chunks[middle]!;
      const last = part.count - 1;
      const lastSize = part.sizes[last]!;
      if (lastSize < size || (lastSize === size && addresses[part.ids[last]!]! < address)) low = middle + 1;
      else high = middle;
    }
    this.#c = low;
    this.#p = 0;
    if (low === chunks.length) return;
    const { sizes, ids, count } = chunks[low]!;
    low = 0;
    high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = sizes[middle]!;
      if (at < size || (at === size && addresses[ids[middle]!]! < address)) low = middle + 1;
      else high = middle;
    }
    this.#p = low;
  }
}
