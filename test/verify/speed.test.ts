import fc from "fast-check";
import { expect, test } from "vitest";
import { interval99 } from "../../src/verify/numbers.ts";
import { compareSpeed } from "../../src/verify/speed.ts";

/** What a shared machine does to step times: whole runs drift, others come and go, single steps are held up. */
interface Noise {
  readonly runs: number;
  readonly steps: number;
  readonly others: number;
}

function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

/** Pairs in ABBA order, 30 steps of which every seventh does twice the work; after takes `factor` times as long. */
function simulate(seed: number, pairs: number, factor: number, noise: Noise): [number[][], number[][]] {
  const next = random(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
  const sides: [number[][], number[][]] = [[], []];
  let load = 0;
  for (let pair = 0; pair < pairs; pair++) {
    for (const side of pair % 2 === 0 ? [0, 1] : [1, 0]) {
      const run = Math.exp(noise.runs * normal());
      const steps = Array.from({ length: 30 }, (_, step) => {
        if (next() < 0.08) load = next() < 0.5 ? 0 : noise.others * next();
        const spike = next() < 0.03 ? 1 + 5 * next() : 1;
        const jitter = Math.exp(noise.steps * Math.abs(normal()));
        return (side === 1 ? factor : 1) * (step % 7 === 3 ? 2 : 1) * run * (1 + load) * jitter * spike;
      });
      sides[side]!.push(steps);
    }
  }
  return sides;
}

const QUIET: Noise = { runs: 0.002, steps: 0.02, others: 0 };
const NOISES: Readonly<Record<string, Noise>> = {
  quiet: QUIET,
  usual: { runs: 0.01, steps: 0.05, others: 0 },
  busy: { runs: 0.05, steps: 0.2, others: 0 },
  shared: { runs: 0.02, steps: 0.1, others: 1 },
  "badly shared": { runs: 0.1, steps: 0.3, others: 2 },
};
const COMPARISONS = 1000;

test.each(Object.entries(NOISES))("the same code on a %s machine: hardly ever a claim", (_, noise) => {
  for (const [pairs, most] of [
    [3, 0.008],
    [4, 0.004],
  ] as const) {
    const claims = Array.from({ length: COMPARISONS }, (__, seed) =>
      compareSpeed(...simulate(seed, pairs, 1, noise)),
    ).filter(({ verdict }) => verdict === "faster" || verdict === "slower");
    expect(claims.length / COMPARISONS, `${pairs} pairs`).toBeLessThanOrEqual(most);
  }
});

test("a real difference on a quiet machine is found, with its size and its direction", () => {
  for (let seed = 0; seed < 100; seed++) {
    const slower = compareSpeed(...simulate(seed, 4, 1.1, QUIET));
    expect(slower.verdict).toBe("slower");
    expect(slower.change).toBeCloseTo(0.1, 1);
    const [before, after] = simulate(seed, 4, 1.1, QUIET);
    expect(compareSpeed(after, before).verdict).toBe("faster");
  }
});

test("exchanging the sides exchanges the answer", () => {
  const opposite = { faster: "slower", slower: "faster" } as { [verdict: string]: string };
  fc.assert(
    fc.property(
      fc.integer(),
      fc.constantFrom(0.5, 0.9, 1, 1.05, 2),
      fc.integer({ min: 3, max: 6 }),
      (seed, factor, pairs) => {
        const [before, after] = simulate(seed, pairs, factor, NOISES["usual"]!);
        const [there, back] = [compareSpeed(before, after), compareSpeed(after, before)];
        expect(back.verdict).toBe(opposite[there.verdict] ?? there.verdict);
        expect(Math.log1p(back.change!)).toBeCloseTo(-Math.log1p(there.change!), 9);
      },
    ),
  );
});

test("the unit of time does not matter", () => {
  fc.assert(
    fc.property(fc.integer(), fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (seed, unit) => {
      const [before, after] = simulate(seed, 4, 1.2, NOISES["usual"]!);
      const scaled = (runs: number[][]): number[][] =>
        runs.map((run) => run.map((seconds) => seconds * unit));
      const one = compareSpeed(before, after);
      const other = compareSpeed(scaled(before), scaled(after));
      expect(other.verdict).toBe(one.verdict);
      expect(other.change).toBeCloseTo(one.change!, 6);
    }),
  );
});

test("slow steps that come in every run show beside the ordinary step", () => {
  const [before, after] = simulate(1, 4, 1, QUIET);
  const stalled = after.map((run) => run.map((seconds, step) => (step % 10 === 5 ? 6 * seconds : seconds)));
  const { change, changeOfAllSteps } = compareSpeed(before, stalled);
  expect(Math.abs(change!)).toBeLessThan(0.02);
  expect(changeOfAllSteps).toBeGreaterThan(0.3);
});

test("too few runs or steps claim nothing", () => {
  expect(compareSpeed([], []).verdict).toBe("unknown");
  expect(compareSpeed([[1]], [[2]]).verdict).toBe("unknown");
  const [before, after] = simulate(1, 2, 3, QUIET);
  expect(compareSpeed(before, after)).toMatchObject({
    verdict: "unknown",
    why: expect.stringContaining("needs 3"),
  });
});

test("Student's interval: a textbook case, and nothing from one value", () => {
  // Mean 5, standard deviation 1, n = 4: 5 ± 5.841 / 2.
  const [low, high] = interval99([5 - Math.sqrt(1.5), 5, 5, 5 + Math.sqrt(1.5)])!;
  expect([low, high]).toEqual([expect.closeTo(2.0795, 3), expect.closeTo(7.9205, 3)]);
  expect(interval99([5])).toBeNull();
});
