import { NONE } from "./blocks.ts";

/** Storage ids to blocks. Ids are dense on a tape, so an array beats a map. */
export class Holders {
  #block = new Int32Array(1024).fill(NONE);

  set(storage: number, block: number): void {
    if (storage >= this.#block.length) {
      const wider = new Int32Array(Math.max(this.#block.length * 2, storage + 1)).fill(NONE);
      wider.set(this.#block);
      this.#block = wider;
    }
    this.#block[storage] = block;
  }

  get(storage: number): number {
    return storage >= 0 && storage < this.#block.length ? this.#block[storage]! : NONE;
  }
}
