/**
 * Predicted step times against measured: `npm run --silent bench:speed-model -- FILE.jsonl [--rows]`.
 * FILE holds runs timed one at a time on an idle card (format of bench/record/steps.py); a step's time is the
 * median of the steps from the third on.
 */
import { readFileSync } from "node:fs";
import { speedOf } from "../src/fit/speed.ts";
import { cardOf } from "../src/plan/cards.ts";
import { type Case, recipeOfCase } from "../src/plan/case.ts";
import { execute } from "../src/plan/execute.ts";

interface Measured {
  readonly id: string;
  readonly case: Case;
  readonly steps: readonly { readonly sec: number }[];
  readonly card?: string;
  readonly ok?: boolean;
  /** False when other work shared the card. */
  readonly alone?: boolean;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Spearman's rank correlation; ties take their mean rank. */
function spearman(a: readonly number[], b: readonly number[]): number {
  const ranks = (values: readonly number[]): number[] =>
    values.map((v) => values.filter((w) => w < v).length + (values.filter((w) => w === v).length - 1) / 2);
  const ra = ranks(a);
  const rb = ranks(b);
  const mean = (a.length - 1) / 2;
  let both = 0;
  let left = 0;
  let right = 0;
  for (let i = 0; i < a.length; i++) {
    both += (ra[i]! - mean) * (rb[i]! - mean);
    left += (ra[i]! - mean) ** 2;
    right += (rb[i]! - mean) ** 2;
  }
  return both / Math.sqrt(left * right);
}

const [file, ...flags] = process.argv.slice(2);
if (!file) {
  console.error("usage: npm run bench:speed-model -- FILE.jsonl [--rows]");
  process.exit(2);
}
const runs = readFileSync(file, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Measured)
  .filter((run) => run.ok !== false && run.alone !== false && run.steps.length >= 3);
const rows = runs.map((run) => {
  const recipe = recipeOfCase(run.case);
  const card = cardOf(run.card?.replace("NVIDIA ", "") ?? "H200");
  const speed = speedOf(execute(recipe, 1, card.capability), recipe, card);
  return { run, speed, measured: median(run.steps.slice(2).map((s) => s.sec)) };
});
if (flags.includes("--rows")) {
  for (const { run, speed, measured } of rows) {
    const error = 100 * (speed.step / measured - 1);
    console.log(
      `${run.id.padEnd(14)} measured ${measured.toFixed(3)} s predicted ${speed.step.toFixed(3)} s (device ${speed.device.toFixed(3)}, host ${speed.host.toFixed(3)}) ${error.toFixed(0)} %`,
    );
  }
}
const errors = rows.map((r) => Math.abs(r.speed.step / r.measured - 1));
const rank = spearman(
  rows.map((r) => r.speed.step),
  rows.map((r) => r.measured),
);
console.log(
  `spearman ${rank.toFixed(3)} | median error ${(100 * median(errors)).toFixed(1)}% | n ${rows.length}`,
);
