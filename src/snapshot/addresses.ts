/** Different in every process, so that no file can be made whose addresses all fall on one slot. */
const [LOW, HIGH] = [Math.random(), Math.random()].map((part) => (part * 2 ** 32) | 1) as [number, number];

/** A map from device addresses to integers, open addressing over typed arrays: JavaScript's Map would box every key. */
export class Addresses {
  /** 0 is an empty slot: the keys are kept plus one. */
  #keys = new Float64Array(1 << 12);
  #values = new Int32Array(1 << 12);
  #count = 0;

  /** `absent` when the address was never set. */
  get(address: number, absent: number): number {
    const slot = this.#slot(address + 1);
    return this.#keys[slot] === 0 ? absent : this.#values[slot]!;
  }

  set(address: number, value: number): void {
    const slot = this.#slot(address + 1);
    this.#values[slot] = value;
    if (this.#keys[slot] !== 0) return;
    this.#keys[slot] = address + 1;
    if (++this.#count * 2 > this.#keys.length) this.#grow();
  }

  #slot(key: number): number {
    const keys = this.#keys;
    const mask = keys.length - 1;
    let hash = (Math.imul(key, LOW) + Math.imul(key / 4294967296, HIGH)) | 0;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash ^= hash >>> 13;
    let slot = hash & mask;
    while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#keys = new Float64Array(keys.length * 2);
    this.#values = new Int32Array(keys.length * 2);
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] === 0) continue;
      const slot = this.#slot(keys[i]!);
      this.#keys[slot] = keys[i]!;
      this.#values[slot] = values[i]!;
    }
  }
}
