import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { replay } from "../../src/allocator/replay.ts";
import { parseSettings } from "../../src/allocator/settings.ts";
import { simulate } from "../../src/allocator/simulate.ts";
import { GiB } from "../../src/base/units.ts";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import type { Tape } from "../../src/tape/tape.ts";

const FIXTURES = fileURLToPath(new URL("../fixtures/", import.meta.url));
/** The card they were recorded on. */
const H200 = 150_109_880_320;

interface History {
  readonly file: string;
  /** In GiB, as set by set_per_process_memory_fraction(cap × 2³⁰ / total). */
  readonly cap?: number;
  /** torch.cuda.memory_stats at the end of the run. */
  readonly peakReserved: number;
  readonly peakAllocated: number;
  readonly peakInactiveSplit: number;
  readonly retries?: number;
  readonly ooms?: number;
}

const HISTORIES: readonly History[] = [
  {
    file: "snapshots/gpt2-expandable.pickle.gz",
    peakReserved: 3466592256,
    peakAllocated: 3435539456,
    peakInactiveSplit: 0,
  },
  {
    file: "snapshots/gpt2-frames.pickle.gz",
    peakReserved: 1553989632,
    peakAllocated: 1492090368,
    peakInactiveSplit: 200717824,
  },
  {
    file: "snapshots/qwen-oom.pickle.gz",
    cap: 12,
    peakReserved: 12842958848,
    peakAllocated: 12684503552,
    peakInactiveSplit: 309403136,
    retries: 2,
    ooms: 1,
  },
];

async function recorded({ file }: History): Promise<{ readonly tape: Tape; readonly allocConf: string }> {
  const { devices, allocConf } = await readSnapshotFile(join(FIXTURES, file));
  return { tape: devices[0]!.tape, allocConf };
}

test.each(HISTORIES)("$file: the same segments and counters as torch", async (history) => {
  const { tape, allocConf } = await recorded(history);
  const result = replay(tape, {
    settings: parseSettings(allocConf),
    allowed: history.cap ? Math.floor(((history.cap * GiB) / H200) * H200) : null,
    deviceMemory: H200,
  });
  expect(result).toMatchObject({
    difference: null,
    oomMismatches: 0,
    exact: true,
    recordedPeak: history.peakReserved,
  });
  expect(result.stats).toMatchObject({
    reserved: { peak: history.peakReserved },
    allocated: { peak: history.peakAllocated },
    inactiveSplit: { peak: history.peakInactiveSplit },
    retries: history.retries ?? 0,
    ooms: history.ooms ?? 0,
  });
});

test("a replay under other settings than recorded names the first segment that differs", async () => {
  const { tape } = await recorded(HISTORIES[1]!);
  const result = replay(tape, { settings: parseSettings("max_split_size_mb:32"), deviceMemory: H200 });
  expect(result.exact).toBe(false);
  expect(result.difference?.recorded?.bytes).not.toBe(result.difference?.simulated?.bytes);
});

test("the out-of-memory run fails at the recorded row under its cap, and with a little more memory does not", async () => {
  const { tape } = await recorded(HISTORIES[2]!);
  const settings = parseSettings("");
  const failed = simulate(tape, { settings, allowed: 12 * GiB });
  expect(failed.oom).toMatchObject({ requested: 152 * 1024 ** 2, cause: "fragmented" });
  const served = simulate(tape, { settings, allowed: 13 * GiB });
  expect(served.oom).toBeNull();
  expect(served.avoided).toHaveLength(1);
  expect(served.avoided[0]!.spare).toBeGreaterThan(0);
});

test("observed columns end where the counters end, and peak where they peak", async () => {
  const { tape } = await recorded(HISTORIES[1]!);
  const { allocated, reserved, stats, peakRow } = simulate(tape, { observe: true });
  expect(allocated!.at(-1)).toBe(stats.allocated.current);
  expect(allocated!.reduce((a, b) => Math.max(a, b))).toBe(stats.allocated.peak);
  expect(reserved![peakRow]).toBe(stats.reserved.peak);
  expect(reserved!.findIndex((value) => value === stats.reserved.peak)).toBe(peakRow);
});
