import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { UserError } from "../../src/base/errors.ts";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import { Op } from "../../src/snapshot/opcodes.ts";
import { emptyFolder } from "../support/folder.ts";
import { python } from "../support/python.ts";
import { fixtureBytes, fixturePath, read } from "./fixtures.ts";
import { event, pickled, Raw, snapshotOf, type Value } from "./pickles.ts";

const bytes = (...parts: (number | string | number[])[]): Uint8Array =>
  new Uint8Array(
    Buffer.concat(
      parts.map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part as string))),
    ),
  );
const HEAD = [Op.PROTO, 4];
const TEN_GB = [0x00, 0xe4, 0x0b, 0x54, 0x02, 0, 0, 0];
const segment = (rest: { [key: string]: Value } = {}): Value => ({
  device: 0,
  address: 4096,
  total_size: 2048,
  stream: 0,
  blocks: [],
  ...rest,
});
const frame = { name: "f", filename: "a.py", line: 1 };

function message(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    return (error as UserError).message;
  }
  return "no error";
}

test.each<[string, Uint8Array, string]>([
  ["empty", bytes(), "the file is empty"],
  ["one byte", bytes(0x80), "the file ends in the middle of the pickle, at byte 1"],
  ["text", bytes("hello, I am no pickle"), "not a pickle of protocol 2 to 5, at byte 0"],
  ["protocol 6", bytes(Op.PROTO, 6, Op.NONE, Op.STOP), "not a pickle of protocol 2 to 5, at byte 0"],
  ["nothing", bytes(HEAD, Op.STOP), "the pickle holds nothing, at byte 2"],
  [
    "None",
    bytes(HEAD, Op.NONE, Op.STOP),
    "not a memory snapshot: a pickle without device_traces and segments",
  ],
  [
    "other pickle",
    pickled({ weights: [1, 2, 3] }),
    "not a memory snapshot: a pickle without device_traces and segments",
  ],
  ["unknown opcode", bytes(HEAD, 0xff), "0xff is no pickle opcode, at byte 2"],
  [
    "GLOBAL",
    bytes(HEAD, Op.GLOBAL, "os\nsystem\n"),
    "refused global os.system at byte 2: a snapshot holds only data",
  ],
  [
    "INST",
    bytes(HEAD, Op.MARK, Op.INST, "os\nsystem\n"),
    "refused global os.system at byte 3: a snapshot holds only data",
  ],
  [
    "STACK_GLOBAL",
    bytes(HEAD, 0x8c, 2, "os", 0x8c, 6, "system", Op.STACK_GLOBAL),
    "refused global os.system at byte 14: a snapshot holds only data",
  ],
  [
    "STACK_GLOBAL of nothing",
    bytes(HEAD, Op.STACK_GLOBAL),
    "refused global ?.? at byte 2: a snapshot holds only data",
  ],
  [
    "escape codes in a global",
    bytes(HEAD, Op.GLOBAL, "a\u001b[31m\nb\n"),
    "refused global a?[31m.b at byte 2: a snapshot holds only data",
  ],
  ["REDUCE", bytes(HEAD, Op.NONE, Op.NONE, 0x52), "refused REDUCE: a snapshot holds only data, at byte 4"],
  ["BUILD", bytes(HEAD, 0x62), "refused BUILD: a snapshot holds only data, at byte 2"],
  ["PERSID", bytes(HEAD, 0x51), "refused BINPERSID: a snapshot holds only data, at byte 2"],
  ["EXT1", bytes(HEAD, 0x82, 1), "refused EXT1: a snapshot holds only data, at byte 2"],
  ["NEWOBJ", bytes(HEAD, 0x81), "refused NEWOBJ: a snapshot holds only data, at byte 2"],
  [
    "10 GB string",
    bytes(HEAD, Op.BINUNICODE8, TEN_GB, "abc"),
    "a string claims 10000000000 bytes, at byte 2",
  ],
  [
    "4 GB string",
    bytes(HEAD, Op.BINUNICODE, [255, 255, 255, 255], "abc"),
    "a string claims 4294967295 bytes, at byte 2",
  ],
  [
    "10 GB bytes",
    bytes(HEAD, Op.BINBYTES8, TEN_GB, "abc"),
    "bytes or an integer of claimed 10000000000 bytes, at byte 2",
  ],
  [
    "10 GB bytearray",
    bytes(HEAD, Op.BYTEARRAY8, TEN_GB),
    "bytes or an integer of claimed 10000000000 bytes, at byte 2",
  ],
  [
    "2^64 string",
    bytes(HEAD, Op.BINUNICODE8, Array(8).fill(255)),
    "a claimed length of 18446744073709552000 bytes, at byte 2",
  ],
  [
    "10 GB frame",
    bytes(HEAD, Op.FRAME, TEN_GB, Op.NONE, Op.STOP),
    "a frame claims bytes up to 10000000011, but the pickle ends, at byte 12",
  ],
  [
    "2 GB integer",
    bytes(HEAD, Op.LONG4, [255, 255, 255, 127]),
    "bytes or an integer of claimed 2147483647 bytes, at byte 2",
  ],
  [
    "memo index 4 billion",
    bytes(HEAD, Op.NONE, Op.LONG_BINPUT, [255, 255, 255, 255]),
    "object number 4294967295 where far fewer exist, at byte 3",
  ],
  [
    "reference to nothing",
    bytes(HEAD, Op.LONG_BINGET, [255, 255, 255, 255]),
    "reference to object 4294967295 that does not exist, at byte 2",
  ],
  ["POP of nothing", bytes(HEAD, Op.POP), "POP on an empty stack, at byte 2"],
  ["SETITEMS without mark", bytes(HEAD, Op.EMPTY_DICT, Op.SETITEMS), "SETITEMS without a mark, at byte 3"],
  [
    "APPENDS on a dict",
    bytes(HEAD, Op.EMPTY_DICT, Op.MARK, Op.APPENDS),
    "APPENDS on something that is not a list, at byte 4",
  ],
  [
    "key without value",
    bytes(HEAD, Op.EMPTY_DICT, Op.MARK, Op.NONE, Op.SETITEMS),
    "SETITEMS with a key that has no value, at byte 5",
  ],
  ["endless line", bytes(HEAD, Op.INT, "1".repeat(9000)), "a line of more than 4096 bytes, at byte 2"],
  [
    "marks without end",
    bytes(HEAD, Array(100_000).fill(Op.MARK)),
    "nested more than 4096 deep, at byte 4098",
  ],
])("%s", (_, input, expected) => {
  expect(message(() => read(input))).toBe(expected);
});

test.each<[string, Uint8Array, string]>([
  [
    "traces no list",
    pickled({ segments: [], device_traces: 3 }),
    "the snapshot's device_traces is not a list",
  ],
  [
    "trace no list",
    pickled({ segments: [], device_traces: [3] }),
    "the snapshot's trace of device 0 is not a list",
  ],
  ["event no dict", snapshotOf([7]), "device 0: event 0 is not an event (it has no action)"],
  [
    "event without action",
    snapshotOf([{ addr: 1, size: 1 }]),
    "device 0: event 0 is not an event (it has no action)",
  ],
  [
    "segment no dict",
    pickled({ segments: ["x"], device_traces: [] }),
    "the snapshot's segments hold something that is not a segment",
  ],
  [
    "annotation no dict",
    snapshotOf([], { external_annotations: [1] }),
    "the external_annotations hold something that is not an annotation",
  ],
  [
    "alloc of a live address",
    snapshotOf([event("alloc", 512), event("alloc", 512)]),
    "device 0: events out of order: event 1 allocates the live address 0x200",
  ],
  [
    "free twice",
    snapshotOf([event("alloc", 512), event("free_completed", 512), event("free_completed", 512)]),
    "device 0: events out of order: event 2 frees the free address 0x200",
  ],
  [
    "request twice",
    snapshotOf([event("alloc", 512), event("free_requested", 512), event("free_requested", 512)]),
    "device 0: events out of order: event 2 frees for the second time the address 0x200",
  ],
])("%s", (_, input, expected) => {
  expect(message(() => read(input))).toBe(expected);
});

test.each<[string, Value, RegExp]>([
  ["no size", { action: "alloc", addr: 1 }, /^the event has no size, at byte \d+$/],
  ["no address", { action: "alloc", size: 1 }, /^the event has no addr, at byte \d+$/],
  ["negative size", event("alloc", 1, { size: -5 }), /^the event's size is negative \(-5\), at byte \d+$/],
  [
    "size NaN",
    event("alloc", 1, { size: Number.NaN }),
    /^the event's size is NaN, not an integer below 2\^53, at byte/,
  ],
  ["size 1e300", event("alloc", 1, { size: 1e300 }), /^the event's size is 1e\+300, not an integer/],
  [
    "size of 2^63",
    event("alloc", 1, { size: new Raw(Op.LONG1, 9, 0, 0, 0, 0, 0, 0, 0, 128, 0) }),
    /^the event's size is Infinity, not/,
  ],
  ["size a string", event("alloc", 1, { size: "big" }), /^the event's size is not a number, at byte/],
  ["size None", event("alloc", 1, { size: null }), /^the event's size is None, at byte/],
  ["size a bool", event("alloc", 1, { size: true }), /^the event's size is a bool, at byte/],
  ["action a number", event("alloc", 1, { action: 5 }), /^the event's action is not a string, at byte/],
  ["frames a number", event("alloc", 1, { frames: 5 }), /^the event's frames are not a list, at byte/],
  [
    "frames of numbers",
    event("alloc", 1, { frames: [5] }),
    /^the event's frames hold something that is not a frame, at byte/,
  ],
  [
    "frame without a name",
    event("alloc", 1, { frames: [{ filename: "a" }] }),
    /^the frame has no name, at byte/,
  ],
  [
    "absurd line",
    event("alloc", 1, { frames: [{ ...frame, line: 2 ** 40 }] }),
    /^the frame's line is 1099511627776, at byte/,
  ],
  [
    "20,000 frames",
    event("alloc", 1, { frames: Array.from({ length: 20_000 }, () => frame) }),
    /^the event has 20000 frames, at byte/,
  ],
])("event with %s", (_, bad, expected) => {
  expect(message(() => read(snapshotOf([bad])))).toMatch(expected);
});

test.each<[string, Value, RegExp]>([
  ["blocks missing", { address: 1, total_size: 2 }, /^the segment's blocks are not a list, at byte/],
  [
    "block of another kind",
    segment({ blocks: [frame] }),
    /^a segment's blocks hold something that is not a block$/,
  ],
  [
    "state unknown",
    segment({ blocks: [{ state: "lost", size: 1 }] }),
    /^the block's state is "lost", at byte/,
  ],
  [
    "pool of three",
    segment({ segment_pool_id: [1, 2, 3] }),
    /^the segment's segment_pool_id is not a pair of integers, at byte/,
  ],
  ["negative total", segment({ total_size: -1 }), /^the segment's total_size is negative \(-1\), at byte/],
])("segment with %s", (_, bad, expected) => {
  expect(message(() => read(snapshotOf([], { segments: [bad] })))).toMatch(expected);
});

test("a snapshot cut anywhere says where it ends", () => {
  const whole = fixtureBytes("small-p4.pickle");
  fc.assert(
    fc.property(fc.integer({ min: 1, max: whole.length - 1 }), (length) => {
      expect(message(() => read(whole.slice(0, length)))).toBe(
        `the file ends in the middle of the pickle, at byte ${length}`,
      );
    }),
  );
});

test("cycles end in one line", async () => {
  const folder = emptyFolder();
  await python(
    `
import pickle, sys
def save(name, value): pickle.dump(value, open(f"{sys.argv[1]}/{name}", "wb"), 4)
root = {"segments": [], "device_traces": []}
root["device_traces"].append(root["device_traces"]); save("trace in itself", root)
root = {"segments": [], "device_traces": [[]]}; root["allocator_settings"] = root; save("settings hold the root", root)
event = {"action": "alloc", "addr": 1, "size": 1}; event["frames"] = [event]
save("event as its own frame", {"segments": [], "device_traces": [[event]]})
frames = []; frames.append({"name": "f", "filename": "a", "line": 1, "frames": frames})
save("frame holds its stack", {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 1, "frames": frames}]]})
`,
    [folder],
  );
  const failure = (name: string): Promise<string> =>
    readSnapshotFile(join(folder, name)).then(
      () => "read",
      (error: UserError) => error.message.replace(`${folder}/`, ""),
    );
  expect(await failure("trace in itself")).toMatch(/^trace in itself: device 0: event 0 is not an event/);
  expect(await failure("settings hold the root")).toBe("read");
  expect(await failure("event as its own frame")).toMatch(/frames hold something that is not a frame/);
  expect(await failure("frame holds its stack")).toMatch(/frames.*at byte \d+$|^read$/);
});

test("files that are not there, cut or padded", async () => {
  const folder = emptyFolder();
  const path = join(folder, "a.pickle.gz");
  const failure = (): Promise<string> =>
    readSnapshotFile(path).then(
      () => "read",
      (error: UserError) => error.message,
    );
  expect(await failure()).toBe(`${path}: no such file`);
  await expect(readSnapshotFile(folder)).rejects.toThrow(`${folder}: is a directory`);
  const packed = gzipSync(fixtureBytes("small-p4.pickle"));
  writeFileSync(path, packed);
  expect(await failure()).toBe("read");
  truncateSync(path, packed.length - 200);
  expect(await failure()).toBe(`${path}: the gzip data ends too early`);
  packed[40]! ^= 0xff;
  writeFileSync(path, packed);
  expect(await failure()).toMatch(/damaged gzip data|at byte \d+|out of order/);
  writeFileSync(path, Buffer.concat([fixtureBytes("small-p4.pickle"), Buffer.alloc(100, 7)]));
  expect(await failure()).toBe("read");
});

test.each<[string, Uint8Array]>([
  ["empty bytes", bytes(HEAD, Op.BINBYTES, [0, 0, 16, 0], Array(1 << 20).fill(0))],
  ["None and POP", bytes(HEAD)],
])("a gzip bomb is noticed: %s", async (_, head) => {
  const path = join(emptyFolder(), "bomb.gz");
  const filler = Buffer.alloc(100 << 20, bytes(Op.NONE, Op.POP));
  writeFileSync(path, gzipSync(Buffer.concat([head, filler])));
  await expect(readSnapshotFile(path)).rejects.toThrow(/expands more than 200-fold/);
});

test("what a newer torch adds is not an error", async () => {
  const added = event("user_defined", 0, { detail: "x" });
  const { devices } = read(
    snapshotOf([event("alloc", 512, { future: [1, 2] }), added, event("free_completed", 512)]),
  );
  expect(devices[0]!.ignored).toBe(1);
  expect(devices[0]!.tape.length).toBe(2);
  expect(await readSnapshotFile(fixturePath("small-p5.pickle"))).toHaveProperty("allocConf", "");
});
