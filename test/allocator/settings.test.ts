import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS, formatSettings, parseSettings } from "../../src/allocator/settings.ts";
import { MiB } from "../../src/base/units.ts";

describe("what torch takes", () => {
  test("nothing at all is torch's defaults", () => {
    expect(parseSettings("")).toEqual(DEFAULT_SETTINGS);
    expect(parseSettings("  ")).toEqual(DEFAULT_SETTINGS);
  });

  test("several settings, spaces anywhere, a comma at the end", () => {
    const settings = parseSettings(
      " max_split_size_mb : 128 , garbage_collection_threshold:0.8,expandable_segments:True,",
    );
    expect(settings).toMatchObject({ maxSplit: 128 * MiB, gcThreshold: 0.8, expandable: true });
  });

  test("digits at the front of a number count, as for stoull", () => {
    expect(parseSettings("max_split_size_mb:128.5").maxSplit).toBe(128 * MiB);
    expect(parseSettings("garbage_collection_threshold:0.5x").gcThreshold).toBe(0.5);
  });

  test("a large segment size moves the least split size", () => {
    expect(parseSettings("large_segment_size_mb:15,max_split_size_mb:16")).toMatchObject({
      largeSegment: 15 * MiB,
      maxSplit: 16 * MiB,
    });
    expect(() => parseSettings("max_split_size_mb:24,large_segment_size_mb:25")).toThrow(
      /max_split_size_mb takes 25 or more/,
    );
  });

  test.each([
    "backend:native",
    "backend:cudaMallocAsync",
    "pinned_use_cuda_host_register:True",
    "pinned_num_register_threads:8",
    "pinned_use_background_threads:False",
    "pinned_reserve_segment_size_mb:64",
    "release_lock_on_cudamalloc:True",
    "graph_capture_record_stream_reuse:True",
    "per_process_memory_fraction:0.5",
    "max_non_split_rounding_mb:20",
  ])("%s", (text) => {
    expect(() => parseSettings(text)).not.toThrow();
  });
});

const divisions = (text: string): readonly number[] =>
  parseSettings(`roundup_power2_divisions:${text}`).roundupPower2Divisions;

describe("roundup_power2_divisions", () => {
  test("one value is for every class", () => {
    expect(divisions("4")).toEqual(Array.from({ length: 16 }, () => 4));
  });

  test("the first class named speaks for those below; > for those above the last named; gaps stay off", () => {
    // The example of torch's own test: 64 MB and below 8, 128 MB 2, …, above 1024 MB 1.
    expect(divisions("[64:8,128:2,256:4,512:2,1024:4,>:1]")).toEqual([
      8, 8, 8, 8, 8, 8, 8, 2, 4, 2, 4, 1, 1, 1, 1, 1,
    ]);
    expect(divisions("[128:8,256:16,512:1,2048:8,>:2]")).toEqual([
      8, 8, 8, 8, 8, 8, 8, 8, 16, 1, 0, 8, 2, 2, 2, 2,
    ]);
    expect(divisions("[65536:2]")).toEqual(Array.from({ length: 16 }, () => 2));
  });
});

describe("a mistake names the key and what it takes", () => {
  test.each([
    ["max_split_size_mb:19", /max_split_size_mb takes 20 or more, not 19/],
    ["max_split_size_mb:abc", /max_split_size_mb takes a whole number of MB, not "abc"/],
    ["max_split_size_mb:-5", /max_split_size_mb takes a whole number of MB/],
    ["max_split_size_mb", /expected ":", found the end/],
    ["max_split_size_mb:", /a value for max_split_size_mb/],
    ["max_split_size_mb=128", /unknown key "max_split_size_mb=128"/],
    ["max_split_size_mb:128 expandable_segments:True", /expected ",", found ":"/],
    ["max_split_size_mb:128,,expandable_segments:True", /a setting's name, found ","/],
    ["garbage_collection_threshold:1", /between 0 and 1, both excluded, not 1/],
    ["garbage_collection_threshold:0", /between 0 and 1/],
    ["expandable_segments:true", /expandable_segments takes True or False, not "true"/],
    ["roundup_power2_divisions:3", /takes a power of two, not 3/],
    ["roundup_power2_divisions:0", /takes a power of two, not 0/],
    ["roundup_power2_divisions:[256:3]", /a power of two, or 0 for off, not 3/],
    ["roundup_power2_divisions:[300:2]", /powers of two, or ">", not "300"/],
    ["roundup_power2_divisions:[256:1", /expected ",", found the end/],
    ["max_non_split_rounding_mb:10", /takes 20 or more, not 10/],
    ["large_segment_size_mb:10", /takes more than 10, not 10/],
    ["backend:jemalloc", /native or cudaMallocAsync, not "jemalloc"/],
    ["pinned_num_register_threads:3", /a power of two up to 128, not 3/],
    ["foo:1", /unknown key "foo" \(known: backend, max_split_size_mb/],
    ["toString:1", /unknown key "toString"/],
  ])("%s", (text, message) => {
    expect(() => parseSettings(text)).toThrow(message);
  });
});

test("settings survive being written and read", () => {
  const power = fc.integer({ min: 0, max: 6 }).map((n) => 2 ** n);
  const settings = fc.record({
    split: fc.option(fc.integer({ min: 64, max: 4096 })),
    large: fc.option(fc.integer({ min: 11, max: 64 })),
    rounding: fc.option(fc.integer({ min: 20, max: 512 })),
    divisions: fc.option(
      fc.oneof(power, fc.array(fc.oneof(power, fc.constant(0)), { minLength: 16, maxLength: 16 })),
    ),
    gc: fc.option(fc.integer({ min: 1, max: 99 }).map((n) => n / 100)),
    expandable: fc.boolean(),
  });
  fc.assert(
    fc.property(settings, ({ split, large, rounding, divisions, gc, expandable }) => {
      const list = Array.isArray(divisions)
        ? `[${divisions.map((value, at) => `${2 ** at}:${value}`).join(",")}]`
        : divisions;
      const text = [
        split === null ? "" : `max_split_size_mb:${split}`,
        large === null ? "" : `large_segment_size_mb:${large}`,
        rounding === null ? "" : `max_non_split_rounding_mb:${rounding}`,
        list === null ? "" : `roundup_power2_divisions:${list}`,
        gc === null ? "" : `garbage_collection_threshold:${gc}`,
        expandable ? "expandable_segments:True" : "",
      ]
        .filter((part) => part !== "")
        .join(",");
      const parsed = parseSettings(text);
      expect(parseSettings(formatSettings(parsed))).toEqual(parsed);
    }),
  );
});
