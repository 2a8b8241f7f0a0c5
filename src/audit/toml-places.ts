/** Where a setting of a TOML file stands. */
export interface TomlPlace {
  readonly keyAt: { readonly start: number; readonly end: number };
  readonly valueAt: { readonly start: number; readonly end: number };
}

interface Key {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The path of a setting, by which it is found; list positions are numbers. */
export const tomlPath = (parts: readonly (string | number)[]): string => JSON.stringify(parts);

/** Where each value stands, by its path, in a text that smol-toml, which keeps no positions, has read. */
export function tomlPlaces(text: string): ReadonlyMap<string, TomlPlace> {
  const reader = new Reader(text);
  reader.file();
  return reader.places;
}

const BARE = /[\w-]+/y;
/** Numbers, dates and words, up to what closes or follows them. */
const PLAIN = /[^\s,\]}#][^,\]}#\r\n]*/y;
const BLANK = /(?:\s|#[^\r\n]*)+/y;

class Reader {
  readonly places = new Map<string, TomlPlace>();
  readonly #text: string;
  #at = 0;
  /** How many tables each list of tables has so far. */
  readonly #tables = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  file(): void {
    let table: (string | number)[] = [];
    for (this.#blank(); this.#at < this.#text.length; this.#blank()) {
      if (this.#text[this.#at] !== "[") {
        this.#setting(table);
        continue;
      }
      const isList = this.#text[this.#at + 1] === "[";
      this.#at += isList ? 2 : 1;
      const keys = this.#keys();
      this.#at = this.#text.indexOf("]", this.#at) + (isList ? 2 : 1);
      table = [];
      for (const [index, { name }] of keys.entries()) {
        table.push(name);
        const path = tomlPath(table);
        if (isList && index === keys.length - 1) this.#tables.set(path, (this.#tables.get(path) ?? 0) + 1);
        const count = this.#tables.get(path);
        // Of a list the last table is meant.
        if (count !== undefined) table.push(count - 1);
      }
    }
  }

  #setting(table: readonly (string | number)[]): void {
    const keys = this.#keys();
    // Nothing that could be one: not to stand still is all that matters.
    if (keys.length === 0) this.#at++;
    this.#blank();
    if (this.#text[this.#at] === "=") this.#at++;
    this.#blank();
    this.#value([...table, ...keys.map(({ name }) => name)], keys.at(-1));
  }

  #value(path: readonly (string | number)[], key: Key | undefined): void {
    const start = this.#at;
    const c = this.#text[start];
    if (c === "[") {
      this.#list("]", (index) => this.#value([...path, index], key));
    } else if (c === "{") {
      this.#list("}", () => this.#setting(path));
    } else if (c === '"' || c === "'") {
      this.#string(c);
    } else {
      PLAIN.lastIndex = start;
      const plain = PLAIN.exec(this.#text);
      this.#at += plain ? plain[0].trimEnd().length : 0;
    }
    if (key) {
      const { start: from, end } = key;
      this.places.set(tomlPath(path), { keyAt: { start: from, end }, valueAt: { start, end: this.#at } });
    }
  }

  #list(close: string, item: (index: number) => void): void {
    this.#at++;
    for (let index = 0; ; index++) {
      this.#blank();
      const before = this.#at;
      if (before >= this.#text.length) return;
      if (this.#text[before] === close) break;
      item(index);
      this.#blank();
      if (this.#text[this.#at] === ",") this.#at++;
      if (this.#at === before) return;
    }
    this.#at++;
  }

  #string(quote: string): void {
    const { length } = this.#text;
    const triple = this.#text.startsWith(quote.repeat(3), this.#at);
    const close = triple ? quote.repeat(3) : quote;
    this.#at += close.length;
    while (this.#at < length && !this.#text.startsWith(close, this.#at))
      this.#at += quote === '"' && this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at += close.length;
    // One or two more quotes belong to the text.
    if (triple) while (this.#text[this.#at] === quote) this.#at++;
  }

  #keys(): Key[] {
    const keys: Key[] = [];
    for (;;) {
      this.#blank();
      const start = this.#at;
      const c = this.#text[start];
      if (c === '"' || c === "'") {
        this.#string(c);
        const written = this.#text.slice(start, this.#at);
        keys.push({ name: c === '"' ? unescaped(written) : written.slice(1, -1), start, end: this.#at });
      } else {
        BARE.lastIndex = start;
        const name = BARE.exec(this.#text)?.[0];
        if (name === undefined) return keys;
        this.#at += name.length;
        keys.push({ name, start, end: this.#at });
      }
      this.#blank();
      if (this.#text[this.#at] !== ".") return keys;
      this.#at++;
    }
  }

  #blank(): void {
    BLANK.lastIndex = this.#at;
    this.#at += BLANK.exec(this.#text)?.[0].length ?? 0;
  }
}

function unescaped(written: string): string {
  try {
    return JSON.parse(written) as string;
  } catch {
    return written.slice(1, -1);
  }
}
