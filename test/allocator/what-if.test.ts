import { describe, expect, test } from "vitest";
import { ranked, sweepSettings, whatIf } from "../../src/allocator/what-if.ts";
import { MiB } from "../../src/base/units.ts";
import { Tape } from "../../src/tape/tape.ts";
import { Action } from "../../src/tape/vocabulary.ts";

/**
 * Twelve blocks of 5 MiB, some of them freed, then a request that failed with `deviceFree` bytes left on the card. As
 * torch records it: segments of 20 MiB at 0, 20 and 40.
 */
function fragmented(deviceFree: number, freed: readonly number[], asked: number): Tape {
  const tape = new Tape({ source: "snapshot" }, 16);
  for (let i = 0; i < 12; i++) {
    if (i % 4 === 0) tape.append(Action.segment_alloc, -1, 20 * MiB, 0, 0, 0, 0, 0, 0, (i / 4) * 20 * MiB);
    tape.append(Action.alloc, i, 5 * MiB, 0, 0, 0, 0, 0, 0, i * 5 * MiB);
  }
  for (const i of freed) tape.append(Action.free, i, 5 * MiB, 0, 0, 0, 0, 0, 0, i * 5 * MiB);
  tape.append(Action.oom, -1, asked, 0, 0, 0, 0, 0, 0, deviceFree);
  return tape;
}

describe("the limit of a recorded out-of-memory", () => {
  test("is what was reserved and what was free, when the card was full", () => {
    const { limit, check } = whatIf(fragmented(4 * MiB, [3, 7, 11], 30 * MiB), [], null);
    expect(limit).toEqual({ bytes: 64 * MiB, source: "device" });
    expect(check.exact).toBe(true);
  });

  test("is at least what the run held, when the card had room: a memory fraction refused", () => {
    const { limit } = whatIf(fragmented(500 * MiB, [3, 7, 11], 30 * MiB), [], null);
    expect(limit).toEqual({ bytes: 60 * MiB, source: "cap" });
  });

  test("is the user's when given", () => {
    const { limit, same } = whatIf(fragmented(4 * MiB, [3, 7, 11], 30 * MiB), [], 90 * MiB);
    expect(limit).toEqual({ bytes: 90 * MiB, source: "given" });
    expect(same.oom).toBeNull();
    expect(same.avoided).toEqual([{ row: 18, bytes: 30 * MiB, spare: 0 }]);
  });
});

test("an out-of-memory by fragmentation is avoided by settings that keep free space together", () => {
  // Blocks 0 to 3 and 4 to 5 freed: 20 MiB whole, 10 MiB in the next segment; adjacent only in one range.
  const { same, others } = whatIf(
    fragmented(4 * MiB, [0, 1, 2, 3, 4, 5], 30 * MiB),
    ["expandable_segments:True"],
    null,
  );
  expect(same.oom).toMatchObject({ cause: "fragmented", requested: 30 * MiB });
  expect(others[0]).toMatchObject({ oom: null, avoided: [{ bytes: 30 * MiB, spare: 4 * MiB }] });
});

test("one by a full card is avoided by none", () => {
  const result = whatIf(fragmented(4 * MiB, [], 30 * MiB), sweepSettings, null);
  expect(result.same.oom).toMatchObject({ cause: "full" });
  expect(result.others.every(({ oom }) => oom !== null)).toBe(true);
});

test("garbage collection is tried only where torch would run it", () => {
  const withGc = (list: readonly string[]): boolean => list.some((conf) => conf.includes("garbage"));
  expect(withGc(sweepSettings(null))).toBe(false);
  expect(withGc(sweepSettings({ bytes: 1, source: "device" }))).toBe(false);
  expect(withGc(sweepSettings({ bytes: 1, source: "given" }))).toBe(true);
});

test("ranked: what fits first, then by reserved bytes; among failures the one that came furthest", () => {
  const tape = fragmented(4 * MiB, [0, 1, 2, 3, 4, 5], 30 * MiB);
  const { others } = whatIf(
    tape,
    ["max_split_size_mb:20", "roundup_power2_divisions:2", "expandable_segments:True", ""],
    null,
  );
  const order = ranked(others);
  expect(order[0]!.conf).toBe("expandable_segments:True");
  const rows = order.slice(1).map(({ oom }) => oom!.row);
  expect(rows).toEqual(rows.toSorted((a, b) => b - a));
});

test("the user's empty_cache is made under the other settings too", () => {
  const tape = new Tape({ source: "snapshot" }, 16);
  tape.append(Action.segment_alloc, -1, 30 * MiB, 0, 0, 0, 0, 0, 0, 0);
  tape.append(Action.alloc, 0, 30 * MiB, 0, 0, 0, 0, 0, 0, 0);
  tape.append(Action.free, 0, 30 * MiB, 0, 0, 0, 0, 0, 0, 0);
  tape.append(Action.segment_free, -1, 30 * MiB, 0, 0, 0, 0, 0, 0, 0);
  tape.append(Action.segment_alloc, -1, 40 * MiB, 0, 0, 0, 0, 0, 0, 0);
  tape.append(Action.alloc, 1, 40 * MiB, 0, 0, 0, 0, 0, 0, 0);
  const { check, others } = whatIf(tape, ["expandable_segments:True"], null);
  expect(check).toMatchObject({ exact: true, emptied: [3] });
  expect(others[0]).toMatchObject({ peakReserved: 40 * MiB, deviceFrees: 1 });
});
