import { expect, test } from "vitest";
import { roundSize, segmentSize } from "../../src/allocator/rounding.ts";
import { parseSettings } from "../../src/allocator/settings.ts";
import { GiB, KiB, MiB } from "../../src/base/units.ts";

const defaults = parseSettings("");

test.each([
  [0, 512],
  [1, 512],
  [512, 512],
  [513, 1024],
  [MiB + 1, MiB + 512],
])("%d bytes take %d", (bytes, rounded) => {
  expect(roundSize(bytes, defaults)).toBe(rounded);
});

test.each([
  // The source's own example: 1200 between 1024 and 2048 in four parts is 1280, but only above 512 × divisions.
  [4, 1200, 1536],
  [4, 2048, 2048],
  [4, 2049, 2560],
  [4, 2561, 3072],
  [4, 4000, 4096],
  [4, 100 * MiB, 112 * MiB],
  [4, 128 * MiB, 128 * MiB],
  [4, 128 * MiB + 1, 160 * MiB],
  [8, 100 * MiB, 104 * MiB],
  [1, 100 * MiB + 1, 100 * MiB + 512],
  [16, 40 * GiB, 40 * GiB],
  [2, 40 * GiB, 48 * GiB],
])("%d divisions: %d bytes take %d", (divisions, bytes, rounded) => {
  expect(roundSize(bytes, parseSettings(`roundup_power2_divisions:${divisions}`))).toBe(rounded);
});

test("classes: below 2 MiB is the first, the size's power of two chooses", () => {
  const settings = parseSettings("roundup_power2_divisions:[1:4,2:0,4:2,>:8]");
  expect(roundSize(600 * KiB, settings)).toBe(640 * KiB);
  expect(roundSize(3 * MiB + 1, settings)).toBe(3 * MiB + 512);
  expect(roundSize(5 * MiB, settings)).toBe(6 * MiB);
  expect(roundSize(9 * MiB, settings)).toBe(9 * MiB);
  expect(roundSize(9 * MiB + 1, settings)).toBe(10 * MiB);
});

test.each([
  [512, 2 * MiB],
  [MiB, 2 * MiB],
  [MiB + 512, 20 * MiB],
  [10 * MiB - 512, 20 * MiB],
  [10 * MiB, 10 * MiB],
  [10 * MiB + 512, 12 * MiB],
])("a miss of %d asks the device for %d", (rounded, segment) => {
  expect(segmentSize(rounded, defaults)).toBe(segment);
});

test("large_segment_size_mb replaces the 20 MiB", () => {
  expect(segmentSize(2 * MiB, parseSettings("large_segment_size_mb:48"))).toBe(48 * MiB);
});
