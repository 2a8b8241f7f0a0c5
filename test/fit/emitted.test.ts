import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CASES, recipeOf } from "../../bench/emitted/cases.ts";
import { cardOf } from "../../src/plan/cards.ts";
import { plan } from "../../src/plan/plan.ts";

interface Run {
  readonly name: string;
  readonly peak_allocated: number;
  readonly peak_reserved: number;
}

const runs = readFileSync(new URL("../../evidence/fit/emitted.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Run);

describe("scripts that fit wrote, run on a GPU", () => {
  it("holds a run of every case", () => {
    expect(runs.map(({ name }) => name)).toEqual(Object.keys(CASES));
  });

  it.each(runs)("$name took what was planned", ({ name, peak_allocated, peak_reserved }) => {
    const { peakAllocated, peakReserved } = plan(recipeOf(name), cardOf("H200"));
    expect(Math.abs(peakAllocated / peak_allocated - 1)).toBeLessThan(0.001);
    expect(Math.abs(peakReserved / peak_reserved - 1)).toBeLessThan(0.04);
  });
});
