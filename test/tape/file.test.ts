import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tableFromArrays, tableFromIPC, tableToIPC } from "apache-arrow";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UserError } from "../../src/base/errors.ts";
import { decodeTape, encodeTape } from "../../src/tape/arrow.ts";
import { readTapeFile, writeTapeFile } from "../../src/tape/file.ts";
import { Tape, type Columns } from "../../src/tape/tape.ts";
import { Action, Kind, Phase } from "../../src/tape/vocabulary.ts";
import { python } from "../support/python.ts";
import { anyTape } from "./arbitrary.ts";

function sameTape(read: Tape, written: Tape): void {
  expect(read.length).toBe(written.length);
  for (const name of Object.keys(written.columns) as (keyof Columns)[]) {
    const a = read.columns[name].subarray(0, read.length);
    const b = written.columns[name].subarray(0, written.length);
    expect(
      Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(
        Buffer.from(b.buffer, b.byteOffset, b.byteLength),
      ),
      name,
    ).toBe(true);
  }
  expect(read.modules.texts).toEqual(written.modules.texts);
  expect(read.stacks.texts).toEqual(written.stacks.texts);
  expect(read.streams).toEqual(written.streams);
  expect(read.info).toEqual(written.info);
}

function bigTape(rows: number): Tape {
  const tape = new Tape({
    source: "snapshot",
    allocConf: "expandable_segments:True",
    device: 3,
    truncated: true,
  });
  const modules = Array.from({ length: 400 }, (_, at) => tape.modules.id(`model.layers.${at}.mlp`));
  const stacks = Array.from({ length: 900 }, (_, at) => tape.stacks.id(`a.py:${at}:f\nb.py:1:g`));
  const other = tape.streamIndex(94_000_000_001);
  for (let row = 0; row < rows; row++) {
    const id = row >> 1;
    const action = row % 2 === 0 ? Action.alloc : Action.free;
    tape.append(
      action,
      id,
      512 * (1 + (id % 5000)),
      id % 7 === 0 ? other : 0,
      Phase.forward,
      Kind.activation,
      modules[id % 400],
      id >> 12,
      stacks[id % 900],
      139_841_482_260_480 + 512 * id,
      1_794_705_816_031_400 + row,
    );
  }
  return tape;
}

describe("the tape's file", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "plimsoll-tape-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("gives back every column of any tape", () => {
    fc.assert(fc.property(anyTape, (tape) => sameTape(decodeTape(encodeTape(tape), "t"), tape)));
  });

  it("holds a million events, and leaves nothing beside the file", async () => {
    const tape = bigTape(1_000_000);
    const path = join(folder, "big.arrow");
    await writeTapeFile(path, tape);
    sameTape(await readTapeFile(path), tape);
    expect(await readdir(folder)).toEqual(["big.arrow"]);
  });

  it("shows words, not codes, to any Arrow reader", () => {
    const tape = bigTape(2);
    const table = tableFromIPC(encodeTape(tape));
    expect(table.schema.metadata.get("plimsoll.tape.version")).toBe("1");
    expect(table.get(1)?.toJSON()).toMatchObject({
      action: "free",
      storage: 0,
      bytes: 512,
      phase: "forward",
      kind: "activation",
      module: "model.layers.0.mlp",
      stack: "a.py:0:f\nb.py:1:g",
    });
  });

  it("opens in pyarrow, where a question is asked in words", async () => {
    const path = join(folder, "asked.arrow");
    await writeTapeFile(path, bigTape(20_000));
    const printed = await python(
      `import sys, pyarrow.compute as pc, pyarrow.ipc as ipc
table = ipc.open_file(sys.argv[1]).read_all()
kept = table.filter(pc.and_(pc.equal(table["action"], "alloc"), pc.equal(table["kind"], "activation")))
print(kept.num_rows, int(pc.sum(kept["bytes"]).as_py()), table.schema.metadata[b"plimsoll.tape.version"].decode())
print(kept["stack"][0].as_py().replace("\\n", " < "))`,
      [path],
    );
    let bytes = 0;
    for (let id = 0; id < 10_000; id++) bytes += 512 * (1 + (id % 5000));
    expect(printed).toBe(`10000 ${bytes} 1\na.py:0:f < b.py:1:g\n`);
  });

  it("leaves the old file whole when it cannot write the new one", async () => {
    const path = join(folder, "missing", "out.arrow");
    await expect(writeTapeFile(path, bigTape(2))).rejects.toThrow(UserError);
    const kept = join(folder, "kept.arrow");
    await writeFile(kept, "old");
    await writeFile(`${kept}.${process.pid}.partial`, "someone else's");
    await expect(writeTapeFile(kept, bigTape(2))).rejects.toThrow(/cannot write/);
    expect(await readFile(kept, "utf8")).toBe("old");
  });

  it("writes to a pipe instead of putting a file in its place", async () => {
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const [read] = await Promise.all([readFile(pipe), writeTapeFile(pipe, bigTape(2))]);
    sameTape(decodeTape(read, pipe), bigTape(2));
    expect((await stat(pipe)).isFIFO()).toBe(true);
  });

  it.each([
    ["an empty file", new Uint8Array(0), /not an Arrow file/],
    ["text", new TextEncoder().encode("hello, this is no tape at all"), /not an Arrow file/],
    ["an Arrow file of something else", tableToIPC(tableFromArrays({ a: [1, 2] }), "file"), /not a tape/],
  ])("refuses %s", (_, bytes, message) => {
    expect(() => decodeTape(bytes, "x.arrow")).toThrow(message);
    expect(() => decodeTape(bytes, "x.arrow")).toThrow(UserError);
  });

  it("refuses a newer version, saying so", () => {
    const table = tableFromIPC(encodeTape(bigTape(4)));
    table.schema.metadata.set("plimsoll.tape.version", "2");
    expect(() => decodeTape(tableToIPC(table, "file"), "x.arrow")).toThrow(/version 2 is newer/);
  });

  it("refuses every truncation of a tape", () => {
    const whole = encodeTape(bigTape(40));
    for (let cut = 0; cut < whole.length; cut += 97) {
      expect(() => decodeTape(whole.slice(0, cut), "x.arrow")).toThrow(UserError);
    }
  });

  it("never crashes on a damaged tape: it reads it or refuses it", () => {
    const whole = encodeTape(fc.sample(anyTape, { numRuns: 1, seed: 5 })[0]!);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, value) => {
        const bytes = whole.slice();
        bytes[at] = value;
        try {
          decodeTape(bytes, "x.arrow");
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
