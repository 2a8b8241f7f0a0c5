/**
 * Scripts of `plimsoll fit --emit pytorch`, run for real against the plan: `npm run --silent bench:emitted -- write DIR`
 * writes them, `python bench/record/emitted.py DIR` runs them on a CUDA machine, and
 * `npm run --silent bench:emitted -- DIR/runs.jsonl` says how far each peak was from the predicted.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pytorch } from "../src/emit/pytorch/pytorch.ts";
import { cardOf } from "../src/plan/cards.ts";
import { plan } from "../src/plan/plan.ts";
import { CASES, MODEL, recipeOf } from "./emitted/cases.ts";

function write(folder: string): void {
  const cases = Object.keys(CASES).map((name) => {
    const recipe = recipeOf(name);
    const why = pytorch.cannot(recipe);
    if (why !== null) throw new Error(`${name}: ${why}`);
    mkdirSync(join(folder, name), { recursive: true });
    const [file] = pytorch.files({ ...recipe, model: { ...MODEL, name: "../model" } });
    writeFileSync(join(folder, name, file!.name), file!.text);
    return { name, tokens: recipe.batch * recipe.seq * recipe.accumulation };
  });
  writeFileSync(join(folder, "cases.json"), `${JSON.stringify({ config: MODEL.config, cases }, null, 1)}\n`);
}

interface Run {
  readonly name: string;
  readonly peak_allocated?: number;
  readonly peak_reserved?: number;
}

function compare(file: string): void {
  const runs = readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Run);
  if (runs.length === 0) throw new Error(`${file} holds no run`);
  const GB = (bytes: number): string => (bytes / 1e9).toFixed(2);
  let worst = 0;
  for (const { name, peak_allocated: allocated, peak_reserved: reserved } of runs) {
    const made = plan(recipeOf(name), cardOf("H200"));
    if (allocated === undefined || reserved === undefined) {
      console.log(`${name}: did not end`);
      worst = Infinity;
      continue;
    }
    const off = Math.max(
      Math.abs(made.peakAllocated / allocated - 1),
      Math.abs(made.peakReserved / reserved - 1),
    );
    worst = Math.max(worst, off);
    console.log(
      `${name.padEnd(20)} predicted ${GB(made.peakAllocated)} / ${GB(made.peakReserved)} GB, measured ${GB(allocated)} / ${GB(reserved)} GB`,
    );
  }
  console.log(`${runs.length} scripts | worst ${(100 * worst).toFixed(2)} %`);
}

const [word, folder] = process.argv.slice(2);
if (word === "write" && folder) write(folder);
else if (word) compare(word);
else throw new Error("usage: bench:emitted -- write DIR, or bench:emitted -- DIR/runs.jsonl");
