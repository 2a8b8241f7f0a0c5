import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/allocator/settings.ts";
import { MiB } from "../../src/base/units.ts";
import { inspect } from "../../src/inspect/inspect.ts";
import { layoutAt } from "../../src/inspect/layout.ts";
import { Tape } from "../../src/tape/tape.ts";
import { Action } from "../../src/tape/vocabulary.ts";

const BASE = 2 ** 40;
const FINAL = { reserved: 40 * MiB, active: 0, free: 0, freeBlocks: 0, largestFree: 0, trapped: 0 };

class Device {
  readonly tape = new Tape({ source: "snapshot" });

  event(action: number, at: number, bytes: number, storage = -1): this {
    this.tape.append(action, storage, bytes, 0, 0, 0, 0, 0, 0, BASE + at, this.tape.length + 1);
    return this;
  }

  /** A recorded oom carries the device's free bytes where other events have their address. */
  oom(asked: number, deviceFree: number): this {
    this.tape.append(Action.oom, -1, asked, 0, 0, 0, 0, 0, 0, deviceFree, this.tape.length + 1);
    return this;
  }

  layout(): ReturnType<typeof layoutAt> {
    return layoutAt(this.tape, this.tape.length - 1, DEFAULT_SETTINGS);
  }
}

/** Two segments of 20 MiB, each with a live block of 8 MiB in the middle: four holes of 6 MiB. */
function holed(): Device {
  const device = new Device();
  for (const [id, at] of [
    [0, 0],
    [1, 64 * MiB],
  ] as const) {
    device.event(Action.segment_alloc, at, 20 * MiB).event(Action.alloc, at + 6 * MiB, 8 * MiB, id);
  }
  return device;
}

describe("how reserved memory is cut up", () => {
  it("finds the holes between live blocks", () => {
    expect(holed().layout()).toEqual({
      reserved: 40 * MiB,
      active: 16 * MiB,
      free: 24 * MiB,
      freeBlocks: 4,
      largestFree: 6 * MiB,
      trapped: 24 * MiB,
    });
  });

  it("does not call trapped what lies in a segment of its own: empty_cache() gives it back", () => {
    expect(
      holed()
        .event(Action.free, 6 * MiB, 8 * MiB, 0)
        .layout(),
    ).toMatchObject({
      free: 32 * MiB,
      freeBlocks: 3,
      largestFree: 20 * MiB,
      trapped: 12 * MiB,
    });
  });

  it("keeps the block of a storage that another stream still uses", () => {
    const device = holed().event(Action.free_requested, 6 * MiB, 8 * MiB, 0);
    expect(device.layout()!.active).toBe(16 * MiB);
    expect(device.event(Action.free_completed, 6 * MiB, 8 * MiB, 0).layout()!.active).toBe(8 * MiB);
  });

  it("takes a gap of a mebibyte or less behind a large block for its unsplit remainder", () => {
    const device = new Device()
      .event(Action.segment_alloc, 0, 20 * MiB)
      .event(Action.alloc, 0, 19.5 * MiB, 0);
    expect(device.layout()).toMatchObject({ active: 20 * MiB, free: 0, freeBlocks: 0 });
  });

  it("joins pages that were mapped one by one, and cuts where one was unmapped", () => {
    const device = new Device();
    for (const page of [0, 2, 1]) device.event(Action.segment_map, page * 20 * MiB, 20 * MiB);
    expect(device.layout()).toMatchObject({ reserved: 60 * MiB, freeBlocks: 1, largestFree: 60 * MiB });
    device.event(Action.segment_unmap, 20 * MiB, 20 * MiB);
    expect(device.layout()).toMatchObject({ reserved: 40 * MiB, freeBlocks: 2, largestFree: 20 * MiB });
  });

  it("knows nothing of a tape without segments", () => {
    expect(new Device().event(Action.alloc, 0, MiB, 0).layout()).toBeNull();
  });
});

describe("why an allocation failed", () => {
  const explained = (device: Device): object =>
    inspect(device.tape, "run", { marks: [], final: FINAL }).result.ooms[0]!;

  it("fragmented: enough was free, in pieces", () => {
    expect(explained(holed().oom(10 * MiB, 2 * MiB))).toMatchObject({
      cause: "fragmented",
      capped: false,
      short: 4 * MiB,
      asked: 10 * MiB,
    });
  });

  it("full: not enough even in one piece", () => {
    expect(explained(holed().oom(30 * MiB, 2 * MiB))).toMatchObject({
      cause: "full",
      capped: false,
      short: 4 * MiB,
    });
  });

  it("capped: the device had room, the process was not allowed it", () => {
    expect(explained(holed().oom(30 * MiB, 900 * MiB))).toMatchObject({
      cause: "full",
      capped: true,
      short: 6 * MiB,
    });
  });

  it("explains the last five of many failures", () => {
    const device = holed();
    for (let asked = 40; asked > 30; asked--) device.oom(asked * MiB, 0);
    const { ooms } = inspect(device.tape, "run", { marks: [], final: FINAL }).result;
    expect(ooms.map((oom) => oom.asked / MiB)).toEqual([35, 34, 33, 32, 31]);
  });
});
