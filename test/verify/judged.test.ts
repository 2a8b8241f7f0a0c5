import fc from "fast-check";
import { expect, test } from "vitest";
import { derivation } from "../../src/report/verify-words.ts";
import { judge } from "../../src/verify/gates.ts";
import { compareMemory, growth } from "../../src/verify/memory.ts";
import { lastNumber, metricIn, parseMetric } from "../../src/verify/metric.ts";
import { compareQuantity } from "../../src/verify/quantity.ts";
import type { Measured, Values } from "../../src/verify/readings.ts";
import type { Verification } from "../../src/verify/result.ts";
import { compareResults, MARGIN } from "../../src/verify/sameness.ts";
import { compareSpeed } from "../../src/verify/speed.ts";
import { compareWarnings, warningsOf } from "../../src/verify/warnings.ts";

const ROUNDOFF = 2 ** -24;

/** A run whose losses are given; its one weight lies `away` from (1, 1). */
function values(losses: readonly number[], away = 0, more: Partial<Values> = {}): Values {
  return {
    failed: null,
    dtype: "float32",
    roundoff: ROUNDOFF,
    lossRoundoff: ROUNDOFF,
    steps: losses.map((loss) => ({ loss, norm: 1 })),
    weights: [
      { name: "w", shape: [2], digest: `d${away}`, norm: Math.SQRT2, sums: Array(8).fill(away) as number[] },
    ],
    rest: [],
    peak: [],
    outside: [],
    world: 1,
    ...more,
  };
}
const shifted = (losses: readonly number[], by: number): number[] => losses.map((loss) => loss * (1 + by));
const LOSSES = [3, 2.5, 2.2, 2, 1.9];

test("the same bits are bit-identical, NaN among them", () => {
  const run = values([2, Number.NaN, 1]);
  expect(compareResults({ before: [run], after: [run], nudged: [] }).verdict).toBe("bit-identical");
});

test("what one rounding moves, times the margin, is the tolerance: below is the same, above is different", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 2e-7, max: 1e-2, noNaN: true }),
      fc.double({ min: 0, max: 3, noNaN: true }),
      (yardstick, times) => {
        const before = values(LOSSES);
        const again = values(LOSSES);
        const nudged = values([LOSSES[0]!, ...shifted(LOSSES.slice(1), yardstick)], 1e-6);
        const after = values(shifted(LOSSES, times * MARGIN * yardstick), 1e-6);
        const { verdict, losses } = compareResults({
          before: [before, again],
          after: [after],
          nudged: [nudged],
        });
        fc.pre(Math.abs(times - 1) > 0.01);
        expect(verdict).toBe(times < 1 ? "same within rounding" : "different");
        expect(losses!.beyond).toBe(times < 1 ? null : "1");
      },
    ),
  );
});

test("where the same code differs from itself, that is the yardstick", () => {
  const before = [values(LOSSES), values(shifted(LOSSES, 1e-3), 1e-3)];
  const nudged = [values(shifted(LOSSES, 1e-7), 1e-7)];
  const near = [values(shifted(LOSSES, 4e-3), 4e-3), values(shifted(LOSSES, 5e-3), 5e-3)];
  expect(compareResults({ before, after: near, nudged })).toMatchObject({
    verdict: "same within spread",
    deterministic: false,
  });
  const far = [values(shifted(LOSSES, 0.1)), values(shifted(LOSSES, 0.1))];
  expect(compareResults({ before, after: far, nudged }).verdict).toBe("different");
});

test("a loss that only then turns NaN, other weights and another number of steps are different", () => {
  const before = [values(LOSSES), values(LOSSES)];
  const nudged = [values(LOSSES, 1e-7)];
  const compare = (after: Values) => compareResults({ before, after: [after], nudged });
  expect(compare(values([3, 2.5, 2.2, 2, Number.NaN], 1e-8))).toMatchObject({
    verdict: "different",
    losses: { beyond: "5" },
  });
  expect(compare(values(LOSSES, 0.1))).toMatchObject({ verdict: "different", weights: { beyond: "w" } });
  expect(compare(values(LOSSES.slice(1)))).toMatchObject({
    verdict: "different",
    why: "before took 5 steps, after 4",
  });
  expect(compare(values(LOSSES, 0, { failed: "no" })).verdict).toBe("unknown");
  const reshaped = values(LOSSES, 0.1, { weights: [] });
  expect(compare(reshaped)).toMatchObject({ verdict: "same within rounding", weights: null });
});

test("weights are matched by name where they have one", () => {
  const weight = (name: string, at: number) => ({ ...values(LOSSES, at).weights[0]!, name });
  const before = values(LOSSES, 0, { weights: [weight("a", 1), weight("b", 2)] });
  const after = values(LOSSES, 0, { weights: [weight("b", 2), weight("a", 1)] });
  expect(compareResults({ before: [before], after: [after], nudged: [] }).weights).toMatchObject({
    compared: 2,
    identical: 2,
    between: 0,
  });
});

test("a number is more or less only beyond three times its scatter", () => {
  const least = { share: 0.01, amount: 0 };
  const compare = (before: number[], after: number[]) =>
    compareQuantity("x", "number", before, after, least).verdict;
  expect(compare([100, 101, 102], [90, 91, 92])).toBe("less");
  expect(compare([100, 103, 106], [90, 91, 92])).toBe("no difference");
  expect(compare([100, 100, 100], [100.5, 100.5, 100.5])).toBe("no difference");
  expect(compare([1], [2])).toBe("more");
  expect(compare([], [2])).toBe("unknown");
});

test("growth is that of memory at rest, whatever single steps do", () => {
  const flat = Array.from({ length: 40 }, (_, step) => 1000 + (step % 5 === 0 ? 500 : 0));
  expect(growth(flat)).toBe(0);
  expect(growth(flat.map((bytes, step) => bytes + 7 * step))).toBeCloseTo(700, -1);
  expect(growth([])).toBe(0);
});

test("gates fail on what is proven, and say so where nothing is", () => {
  const measured = (peak: number): Measured => ({
    seconds: [],
    resident: [],
    peakResident: 1e9,
    outside: [],
    device: { name: "card", peakAllocated: peak, peakReserved: peak, allocated: [peak] },
  });
  const memory = compareMemory(
    { measured: [measured(10e9)], values: [] },
    { measured: [measured(11e9)], values: [] },
  );
  const pairs = (seconds: number): number[][] =>
    Array.from({ length: 4 }, () => Array(20).fill(seconds) as number[]);
  const speed = compareSpeed(pairs(1), pairs(1.1));
  const results = compareResults({ before: [values(LOSSES)], after: [values(LOSSES)], nudged: [] });
  const limits = { sameResults: true, memoryIncrease: 0.02, slowdown: 0.03 };
  expect(judge(limits, results, memory, speed)).toEqual([
    expect.objectContaining({ name: "same-results", passed: true }),
    { name: "max-memory-increase", limit: "2%", passed: false, why: "peak allocated +10.0 %" },
    { name: "max-slowdown", limit: "3%", passed: false, why: "a step takes +10.0 % time" },
  ]);
  const wider = { sameResults: false, memoryIncrease: 0.2, slowdown: 0.2 };
  expect(judge(wider, results, memory, speed).map(({ passed }) => passed)).toEqual([true, true]);
  expect(judge({ ...wider, memoryIncrease: null }, results, memory, compareSpeed([], []))[0]!.passed).toBe(
    false,
  );
});

test("warnings are compared without paths, lines and numbers", () => {
  const stderr = (tree: string, line: number) =>
    [
      `${tree}/train.py:${line}: UserWarning: slow path for size ${line} in ${tree}/x`,
      "  warnings.warn(text)",
      `[W1115 06:12:3${line % 10}.123 Module.cpp:1] Warning: address 0x${line}f`,
      "step 3 loss=0.1",
    ].join("\n");
  const [one, two] = [warningsOf(stderr("/t/a", 3), ["/t/a"]), warningsOf(stderr("/t/b", 41), ["/t/b"])];
  expect([...one]).toEqual([...two]);
  expect(one.size).toBe(2);
  const none = new Set<string>();
  expect(compareWarnings([none, none], [one, two]).new).toHaveLength(2);
  expect(compareWarnings([one, none], [none, none])).toEqual({ new: [], gone: [] });
});

test("metrics: the last number in the log", () => {
  const metric = parseMetric(String.raw`accuracy=(\d+\.\d+)`);
  expect(metric.name).toBe("accuracy");
  expect(metricIn(metric, "accuracy=0.5\naccuracy=0.75\n")).toBe(0.75);
  expect(metricIn(metric, "nothing")).toBeNull();
  expect(() => parseMetric("accuracy")).toThrow("has no group");
  expect(() => parseMetric("(")).toThrow("--metric (");
  expect(lastNumber("eval: 3 of 4, f1 8.1e-1")).toBeCloseTo(0.81);
});

test("the coarser side's format is named; weights that cannot be laid side by side are said to be left out", () => {
  const before = values(LOSSES);
  const other = { name: "v", shape: [3], digest: "d", norm: 1, sums: Array(8).fill(0) as number[] };
  const after = values(LOSSES, 0, { dtype: "bfloat16", roundoff: 2 ** -8, weights: [other] });
  const results = compareResults({ before: [before, before], after: [after], nudged: [before] });
  expect(results).toMatchObject({ verdict: "same within rounding", dtype: "bfloat16", weights: null });
  const said = derivation({ results } as Verification);
  expect(said.find((line) => line.startsWith("final weights"))).toMatch(/^final weights: not compared: /);
});
