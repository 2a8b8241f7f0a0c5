import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { Record } from "./record.ts";

const RANK_FILE = /^rank-(\d+)-.*\.jsonl$/;
const CHUNK = 1 << 20;

/** Rows of a rank that a summary needs to hold: a curve has no more points on any screen. */
export const ROWS = 1024;

/** All records of a run folder, read as far as they go; call again for what came since. */
export class Tail {
  readonly #folder: string;
  readonly #keep: number;
  readonly #files = new Map<string, { offset: number; record: Record }>();
  readonly #buffer = new Uint8Array(CHUNK);

  /** `keep`: how many rows of each record to hold (see Record). */
  constructor(folder: string, keep = Infinity) {
    this.#folder = folder;
    this.#keep = keep;
  }

  /** Ordered by rank; a restarted rank follows its former self. */
  read(): Record[] {
    for (const name of readdirSync(this.#folder)) if (RANK_FILE.test(name)) this.#catchUp(name);
    return [...this.#files]
      .map(([, file]) => file.record)
      .filter((record) => record.head !== null)
      .toSorted((a, b) => a.head!.rank - b.head!.rank || a.head!.t - b.head!.t);
  }

  #catchUp(name: string): void {
    let file = this.#files.get(name);
    if (!file) this.#files.set(name, (file = { offset: 0, record: new Record(this.#keep) }));
    const handle = openSync(join(this.#folder, name), "r");
    try {
      for (;;) {
        const count = readSync(handle, this.#buffer, 0, CHUNK, file.offset);
        if (count === 0) return;
        file.offset += count;
        file.record.feed(this.#buffer.subarray(0, count));
      }
    } finally {
      closeSync(handle);
    }
  }
}
