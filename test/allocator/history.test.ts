import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { torchStats } from "../../src/allocator/counters.ts";
import { replay, type Replay } from "../../src/allocator/replay.ts";
import { parseSettings } from "../../src/allocator/settings.ts";
import { simulate } from "../../src/allocator/simulate.ts";
import { GiB } from "../../src/base/units.ts";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import type { Tape } from "../../src/tape/tape.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FIXTURES = join(ROOT, "test/fixtures/snapshots");
/** Made by bench/record/alloc_histories.py. */
const RECORDED = join(ROOT, "evidence/allocator");
/** The card they were all recorded on. */
const H200 = 150_109_880_320;

interface Row {
  readonly job: { readonly name: string; readonly cap: number | null };
  readonly stats: Readonly<Record<string, number>>;
  readonly total_memory: number;
}

async function load(path: string): Promise<{ readonly tape: Tape; readonly allocConf: string }> {
  const { devices, allocConf } = await readSnapshotFile(path);
  return { tape: devices[0]!.tape, allocConf };
}

/** `cap` in GiB: torch keeps the fraction and multiplies it out again. */
function replayed(tape: Tape, conf: string, cap: number | null): Replay {
  const settings = parseSettings(conf);
  const fraction = cap ? (cap * GiB) / H200 : settings.memoryFraction;
  return replay(tape, {
    settings,
    allowed: fraction < 1 ? Math.floor(fraction * H200) : null,
    deviceMemory: H200,
  });
}

describe("the same segments, and the same counters, as torch", () => {
  const rows = readFileSync(join(RECORDED, "index.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);

  test.each(rows)("$job.name", async ({ job, stats, total_memory }) => {
    expect(total_memory).toBe(H200);
    const { tape, allocConf } = await load(join(RECORDED, `${job.name}.pickle.gz`));
    const result = replayed(tape, allocConf, job.cap);
    expect(result).toMatchObject({ difference: null, oomMismatches: 0, exact: true });
    expect(torchStats(result.stats)).toMatchObject(stats);
  });

  test.each([
    ["gpt2-expandable.pickle.gz", null, 3_466_592_256],
    ["gpt2-frames.pickle.gz", null, 1_553_989_632],
    ["qwen-oom.pickle.gz", 12, 12_842_958_848],
  ])("%s", async (file, cap, peak) => {
    const { tape, allocConf } = await load(join(FIXTURES, file));
    const result = replayed(tape, allocConf, cap);
    expect(result).toMatchObject({ exact: true, recordedPeak: peak });
  });
});

test("a replay under other settings than recorded names the first segment that differs", async () => {
  const { tape } = await load(join(FIXTURES, "gpt2-frames.pickle.gz"));
  const result = replayed(tape, "max_split_size_mb:32", null);
  expect(result.exact).toBe(false);
  expect(result.difference?.recorded?.bytes).not.toBe(result.difference?.simulated?.bytes);
});

test("the cache emptied by the user is told from releases of an allocation", async () => {
  const emptied = await load(join(RECORDED, "empty-midway.pickle.gz"));
  expect(replayed(emptied.tape, emptied.allocConf, null).emptied).toHaveLength(2);
  const retried = await load(join(FIXTURES, "qwen-oom.pickle.gz"));
  expect(replayed(retried.tape, retried.allocConf, 12).emptied).toEqual([]);
});

test("an out-of-memory run fails under its cap, and with a little more memory does not", async () => {
  const { tape } = await load(join(FIXTURES, "qwen-oom.pickle.gz"));
  const settings = parseSettings("");
  const failed = simulate(tape, { settings, allowed: 12 * GiB });
  expect(failed.oom).toMatchObject({ requested: 152 * 1024 ** 2, cause: "fragmented" });
  const served = simulate(tape, { settings, allowed: 13 * GiB });
  expect(served.oom).toBeNull();
  expect(served.avoided).toHaveLength(1);
  expect(served.avoided[0]!.spare).toBeGreaterThan(0);
});

test("observed columns end where the counters end, and peak where they peak", async () => {
  const { tape } = await load(join(FIXTURES, "gpt2-frames.pickle.gz"));
  const { allocated, reserved, stats, peakRow } = simulate(tape, { observe: true });
  expect(allocated!.at(-1)).toBe(stats.allocated.current);
  expect(allocated!.reduce((a, b) => Math.max(a, b))).toBe(stats.allocated.peak);
  expect(reserved![peakRow]).toBe(stats.reserved.peak);
  expect(reserved!.indexOf(stats.reserved.peak)).toBe(peakRow);
});
