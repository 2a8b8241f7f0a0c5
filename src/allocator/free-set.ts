import { assert } from "../base/errors.ts";
import type { Bytes } from "../base/units.ts";
import { NONE, type Blocks } from "./blocks.ts";

/** Elements a chunk holds: small enough that shifting one is cheap, large enough that there are few chunks. */
const CHUNK = 8;

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
 * Two levels: an array of sorted chunks, none of them empty. A block must leave the set before its size or
 * address changes. Shifting by loops: for so few elements they beat copyWithin.
 */
export class FreeSet {
  readonly #blocks: Blocks;
  readonly #chunks: Chunk[] = [];
  /** The largest size of each chunk, side by side for the search. */
  #tops = new Float64Array(16);
  // The cursor: the first element not before the key of the last search.
  #c = 0;
  #p = 0;

  constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  insert(block: number): void {
    const chunks = this.#chunks;
    const size = this.#blocks.size(block);
    this.#seek(size, this.#blocks.address(block), block);
    let at = this.#c;
    let position = this.#p;
    if (at === chunks.length) {
      if (at === 0) chunks.push(chunk());
      else at--;
      position = chunks[at]!.count;
    }
    let target = chunks[at]!;
    if (target.count === CHUNK) {
      this.#halve(at);
      if (position > CHUNK / 2) {
        target = chunks[++at]!;
        position -= CHUNK / 2;
      }
    }
    const { sizes, ids } = target;
    for (let i = target.count++; i > position; i--) {
      sizes[i] = sizes[i - 1]!;
      ids[i] = ids[i - 1]!;
    }
    sizes[position] = size;
    ids[position] = block;
    this.#tops[at] = sizes[target.count - 1]!;
  }

  remove(block: number): void {
    this.#seek(this.#blocks.size(block), this.#blocks.address(block), block);
    assert(this.here() === block, "a block leaves the free set once");
    this.takeHere();
  }

  /** Moves to the smallest block of at least `size`, the lowest address among equals; NONE if there is none. */
  ceil(size: Bytes): number {
    this.#seek(size, -1, NONE);
    return this.here();
  }

  /** The block after the present one, without moving; NONE at the end. */
  peekNext(): number {
    const present = this.#chunks[this.#c]!;
    if (this.#p + 1 < present.count) return present.ids[this.#p + 1]!;
    return this.#chunks[this.#c + 1]?.ids[0] ?? NONE;
  }

  moveNext(): void {
    if (++this.#p < this.#chunks[this.#c]!.count) return;
    this.#c++;
    this.#p = 0;
  }

  /** The block under the cursor. */
  here(): number {
    return this.#c < this.#chunks.length ? this.#chunks[this.#c]!.ids[this.#p]! : NONE;
  }

  /** Removes the block under the cursor. */
  takeHere(): void {
    const present = this.#chunks[this.#c]!;
    const { sizes, ids } = present;
    const count = --present.count;
    for (let i = this.#p; i < count; i++) {
      sizes[i] = sizes[i + 1]!;
      ids[i] = ids[i + 1]!;
    }
    if (count < CHUNK / 4) this.#join(this.#c);
    else this.#tops[this.#c] = sizes[count - 1]!;
  }

  largest(): number {
    const top = this.#chunks.at(-1);
    return top ? last(top) : NONE;
  }

  /** A copy in order, for walks that change the set. */
  list(): number[] {
    return this.#chunks.flatMap((part) => Array.from(part.ids.subarray(0, part.count)));
  }

  #halve(at: number): void {
    const lower = this.#chunks[at]!;
    const upper = chunk();
    const half = CHUNK / 2;
    upper.sizes.set(lower.sizes.subarray(half));
    upper.ids.set(lower.ids.subarray(half));
    upper.count = half;
    lower.count = half;
    this.#chunks.splice(at + 1, 0, upper);
    if (this.#chunks.length > this.#tops.length) {
      const wider = new Float64Array(this.#tops.length * 2);
      wider.set(this.#tops);
      this.#tops = wider;
    }
    this.#tops.copyWithin(at + 1, at, this.#chunks.length - 1);
    this.#tops[at] = lower.sizes[half - 1]!;
  }

  /** A thin chunk takes in its neighbour when both are thin; an empty one goes. */
  #join(at: number): void {
    const thin = this.#chunks[at]!;
    const next = this.#chunks[at + 1];
    if (next && thin.count + next.count <= CHUNK / 2) {
      thin.sizes.set(next.sizes.subarray(0, next.count), thin.count);
      thin.ids.set(next.ids.subarray(0, next.count), thin.count);
      thin.count += next.count;
      this.#cut(at + 1);
    } else if (thin.count === 0) {
      this.#cut(at);
      return;
    }
    this.#tops[at] = thin.sizes[thin.count - 1]!;
  }

  #cut(at: number): void {
    this.#tops.copyWithin(at, at + 1, this.#chunks.length);
    this.#chunks.splice(at, 1);
  }

  #seek(size: Bytes, address: number, block: number): void {
    const chunks = this.#chunks;
    const tops = this.#tops;
    const blocks = this.#blocks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const top = tops[middle]!;
      if (top < size || (top === size && isBefore(blocks, last(chunks[middle]!), address, block)))
        low = middle + 1;
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
      if (at < size || (at === size && isBefore(blocks, ids[middle]!, address, block))) low = middle + 1;
      else high = middle;
    }
    this.#p = low;
  }
}

function last(part: Chunk): number {
  return part.ids[part.count - 1]!;
}

/** Of equal sizes. Equal addresses occur only in a forged history; the index then keeps the order total. */
function isBefore(blocks: Blocks, one: number, address: number, block: number): boolean {
  const at = blocks.address(one);
  return at < address || (at === address && one < block);
}
