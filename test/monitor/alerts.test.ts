import { expect, test } from "vitest";
import { Alerts, parseRule } from "../../src/monitor/alerts.ts";
import { generalLadder, isFragmented } from "../../src/monitor/ladder.ts";
import { Record } from "../../src/monitor/record.ts";
import { summarize, type RunSummary } from "../../src/monitor/summary.ts";
import { liveLine, runText } from "../../src/report/run-text.ts";

const GB = 1e9;
const COLUMNS = ["step", "time", "seconds", "backward", "optimizer", "data", "save", "evaluation", "micro"];
const MEMORY = ["allocated", "reserved", "peak", "inactive", "retries", "ooms", "heap"];

interface Step {
  readonly allocated: number;
  readonly reserved: number;
  readonly retries?: number;
}

function rank(index: number, steps: readonly Step[], seconds = 0.1, events: readonly object[] = []): Record {
  const device = { index, name: "Card", total: 24 * GB, uuid: `u${index}` };
  const head = { k: "head", rank: index, host: "h", t: 0, columns: [...COLUMNS, ...MEMORY], device };
  let peak = 0;
  const rows = steps.map(({ allocated, reserved, retries = 0 }, at) => {
    peak = Math.max(peak, allocated);
    return [at + 1, at, seconds, 0, 0, 0, 0, 0, 1, allocated, reserved, peak, 0, retries, 0, 0];
  });
  const record = new Record();
  record.feed(
    new TextEncoder().encode([head, ...events, ...rows].map((line) => `${JSON.stringify(line)}\n`).join("")),
  );
  return record;
}

const flat = (steps: number, allocated: number, reserved: number): Step[] =>
  Array.from({ length: steps }, () => ({ allocated, reserved }));

function fired(rules: readonly string[], ...states: RunSummary[]): string[] {
  const alerts = new Alerts(rules.map(parseRule));
  return states.flatMap((state) => alerts.check(state).map((alert) => `${alert.rank} ${alert.rule}`));
}

test("each rule fires once a rank, when its limit is passed and not at it", () => {
  const calm = summarize([rank(0, flat(20, 10 * GB, 12 * GB)), rank(1, flat(20, 10 * GB, 12 * GB))]);
  const full = summarize([rank(0, flat(40, 10 * GB, 12 * GB)), rank(1, flat(40, 10 * GB, 23 * GB))]);
  expect(fired(["reserved>50%", "reserved>12GB", "fragmentation>40%"], calm, calm, full, full)).toEqual([
    "1 reserved>50%",
    "1 reserved>12GB",
    "1 fragmentation>40%",
  ]);
});

test("growth and retries", () => {
  const growing = Array.from({ length: 100 }, (_, step) => ({
    allocated: 10 * GB + step * 2e6,
    reserved: 12 * GB,
    retries: step > 50 ? 2 : 0,
  }));
  const summary = summarize([rank(0, growing)]);
  expect(summary.ranks[0]!.growthPer100Steps).toBeCloseTo(200e6, -7);
  expect(fired(["growth>100MB", "growth>300MB", "retries>0", "retries>2"], summary)).toEqual([
    "0 growth>100MB",
    "0 retries>0",
  ]);
});

test("rules that mean nothing are refused", () => {
  for (const rule of [
    "reserved",
    "reserved>",
    "reserved>many",
    "growth>5%",
    "retries>1GB",
    "host>50%",
    "fragmentation>1GB",
    "x>1",
  ])
    expect(() => parseRule(rule), rule).toThrow("does not understand");
});

test("the summary names the peak's step, the slowest rank and each leak; the live line the fullest rank", () => {
  const leak = {
    k: "leak",
    t: 1,
    step: 23,
    file: "/a/train.py",
    line: 7,
    text: "kept.append(x)",
    held: "global `kept`",
    tensor: "float32 8",
    why: "one more each time",
    per_step: 4096,
    confidence: 0.9999,
  };
  const spike = [
    ...flat(10, 5 * GB, 6 * GB),
    { allocated: 9 * GB, reserved: 10 * GB },
    ...flat(10, 5 * GB, 10 * GB),
  ];
  const summary = summarize([rank(0, spike, 0.125, [leak]), rank(1, flat(21, 5 * GB, 6 * GB), 0.2)]);
  expect(summary.slowestRank).toBe(1);
  expect(summary.ranks[0]).toMatchObject({
    peakAllocated: 9 * GB,
    peakStep: 11,
    peakReserved: 10 * GB,
    stepsPerSecond: 8,
  });
  const run = {
    version: 1,
    name: "r",
    command: [],
    cwd: "/",
    host: "h",
    plimsoll: "0",
    started: "2026-01-01T00:00:00Z",
    ended: "2026-01-01T00:00:05Z",
    exit: 0,
  } as const;
  const text = runText(run, summary, "/runs/r", false, null);
  expect(text).toContain("leak /a/train.py:7  4.10 kB a step, seen at step 23");
  expect(text).toContain("peak 9.00 GB allocated (first reached at step 11)");
  const line = liveLine(
    { summary, outside: 1 * GB, free: 2 * GB, alerts: [], records: [], cards: new Map() },
    200,
  );
  expect(line).toContain(
    "5.00 GB of 24.0 GB · reserved 10.0 GB · peak 9.00 GB · outside 1.00 GB · free 2.00 GB",
  );
  expect(line).toContain("rank 0 of 2");
});

test("full or fragmented: the ladder begins with what costs nothing only when that would help", () => {
  const oom = {
    k: "oom",
    t: 0,
    asked: 2 * GB,
    reserved_free: 5 * GB,
    largest_free_block: 1 * GB,
    allocated: 18 * GB,
  };
  expect(isFragmented(oom)).toBe(true);
  expect(generalLadder(oom)[0]!.change).toContain("expandable_segments");
  const full = { ...oom, reserved_free: 1 * GB };
  expect(isFragmented(full)).toBe(false);
  expect(generalLadder(full)[0]!.change).toContain("micro-batch");
});
