import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { Record } from "./record.ts";

const RANK_FILE = /^rank-(\d+)-.*\.jsonl$/;
const CHUNK = 1 << 20;

/** All records of a run folder, read as far as they go; call again for what came since. */
export class Tail {
  readonly #folder: string;
  readonly #files = new Map<
    string,
    { offset: number; decoder: InstanceType<typeof TextDecoder>; record: Record }
  >();
  readonly #buffer = new Uint8Array(CHUNK);

  constructor(folder: string) {
    this.#folder = folder;
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
    if (!file)
      this.#files.set(name, (file = { offset: 0, decoder: new TextDecoder(), record: new Record() }));
    const handle = openSync(join(this.#folder, name), "r");
    try {
      for (;;) {
        const count = readSync(handle, this.#buffer, 0, CHUNK, file.offset);
        if (count === 0) return;
        file.offset += count;
        file.record.feed(file.decoder.decode(this.#buffer.subarray(0, count), { stream: true }));
      }
    } finally {
      closeSync(handle);
    }
  }
}
