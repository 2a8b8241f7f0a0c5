/** A map over another one, which it does not copy; no key is in both. */
export class Overlay<K, V> implements ReadonlyMap<K, V> {
  readonly #own: ReadonlyMap<K, V>;
  readonly #under: ReadonlyMap<K, V>;

  constructor(own: ReadonlyMap<K, V>, under: ReadonlyMap<K, V>) {
    this.#own = own;
    this.#under = under;
  }

  get size(): number {
    return this.#own.size + this.#under.size;
  }

  get(key: K): V | undefined {
    return this.#own.has(key) ? this.#own.get(key) : this.#under.get(key);
  }

  has(key: K): boolean {
    return this.#own.has(key) || this.#under.has(key);
  }

  forEach(visit: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this) visit(value, key, this);
  }

  *entries(): Generator<[K, V], undefined> {
    yield* this.#own;
    yield* this.#under;
  }

  *keys(): Generator<K, undefined> {
    for (const [key] of this.entries()) yield key;
  }

  *values(): Generator<V, undefined> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[K, V], undefined> {
    return this.entries();
  }
}
