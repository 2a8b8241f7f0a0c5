import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bandOf } from "../../src/plan/band.ts";
import { type Case, recipeOfCase } from "../../src/plan/case.ts";
import { plan } from "../../src/plan/plan.ts";

interface Run {
  readonly id: string;
  readonly case: Case;
  readonly loop?: Case["loop"];
  readonly peak_allocated: number;
  readonly peak_reserved: number;
}

function runs(file: string, every: number): Run[] {
  const path = fileURLToPath(new URL(`../../evidence/accuracy/${file}`, import.meta.url));
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line, at) => line !== "" && at % every === 0)
    .map((line) => JSON.parse(line) as Run);
}

// All of them are the bench's (npm run bench:accuracy, bench:bands); these keep the claim true between its runs.
test.each([...runs("plain.jsonl", 8), ...runs("trainer.jsonl", 4)].map((run) => [run.id, run] as const))(
  "%s is measured within the band its plan claims",
  (_, run) => {
    const recipe = recipeOfCase(run.loop ? { ...run.case, loop: run.loop } : run.case);
    const { peakAllocated, peakReserved } = plan(recipe);
    const band = bandOf(recipe, true);
    expect(Math.abs(peakAllocated / run.peak_allocated - 1)).toBeLessThanOrEqual(band.allocated.worst);
    expect(Math.abs(peakReserved / run.peak_reserved - 1)).toBeLessThanOrEqual(band.reserved.worst);
  },
);

test("a kind that was never measured has a wider band than its nearest, and says why", () => {
  const measured = recipeOfCase(runs("plain.jsonl", 200)[0]!.case);
  const other = { ...measured, loss: "fused" as const, loop: "sft" as const };
  expect(bandOf(measured, true).widened).toBe("");
  expect(bandOf(other, true).widened).toMatch(/too few measured runs/);
  expect(bandOf(other, true).allocated.p90).toBeGreaterThan(bandOf(measured, true).allocated.p90);
});
