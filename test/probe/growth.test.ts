import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { python } from "../support/python.ts";

const PROBE = fileURLToPath(new URL("../../probe", import.meta.url));

/** The steps after which each series is first suspected, null for never. */
async function suspected(series: readonly (readonly number[])[]): Promise<(number | null)[]> {
  const snippet = `
import json, sys
sys.path.insert(0, sys.argv[1])
from plimsoll_probe.growth import Growth
def first(series):
    growth = Growth()
    for step, value in enumerate(series, 1):
        growth.add(value)
        if growth.trend(1024):
            return step
print(json.dumps([first(series) for series in json.load(sys.stdin)]))
`;
  return JSON.parse(await python(snippet, [PROBE], { input: JSON.stringify(series) })) as (number | null)[];
}

const MB = 1e6;
/** Reproducible noise: batches of varying length leave varying leftovers. */
function noise(seed: number): (step: number) => number {
  const values = fc.sample(fc.double({ min: 0, max: 1, noNaN: true }), { seed, numRuns: 2000 });
  return (step) => values[step % values.length]!;
}
const series = (steps: number, at: (step: number) => number): number[] =>
  Array.from({ length: steps }, (_, step) => Math.round(100 * MB + at(step)));

test("a steady leak is suspected within 20 steps, a noisy one within 50, one at evaluations later", async () => {
  const random = noise(1);
  const [steady, noisy, rare] = await suspected([
    series(60, (step) => step * 20_000),
    series(60, (step) => step * 20_000 + random(step) * 60_000),
    series(900, (step) => Math.floor(step / 50) * 1 * MB),
  ]);
  expect(steady).toBeLessThanOrEqual(20);
  expect(noisy).toBeLessThanOrEqual(50);
  expect(rare).not.toBeNull();
});

test("warm-up, varying lengths, evaluation peaks, filling caches and sawtooths are not", async () => {
  const random = noise(2);
  const clean = [
    series(10_000, () => 0),
    series(10_000, (step) => random(step) * 50 * MB),
    series(2000, (step) => (step % 100 < 5 ? 400 * MB : random(step) * MB)),
    series(2000, (step) => 80 * MB * (1 - 0.5 ** (step / 3))),
    series(2000, (step) => Math.min(step, 8) * 10 * MB),
    series(2000, (step) => (step % 10) * 100_000),
    series(2000, (step) => -step * 10_000),
    series(2000, (step) => step * 100),
  ];
  expect(await suspected(clean)).toEqual(clean.map(() => null));
});
