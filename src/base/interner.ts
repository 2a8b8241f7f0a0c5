/** Strings as small integers. Id 0 is always the empty string, so that a zeroed column means "none". */
export class Interner {
  readonly #ids = new Map<string, number>([["", 0]]);
  readonly #texts: string[] = [""];

  id(text: string): number {
    let id = this.#ids.get(text);
    if (id === undefined) {
      id = this.#texts.length;
      this.#ids.set(text, id);
      this.#texts.push(text);
    }
    return id;
  }

  text(id: number): string {
    return this.#texts[id] ?? "";
  }

  get size(): number {
    return this.#texts.length;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }
}
