/**
 * What was predicted for the recipes of evidence/fit/runs.jsonl beside what was measured:
 * `npm run --silent bench:fit-evidence`. Writes evidence/fit-seeds.json, fit-scenarios.json and fit-grids.json, and
 * prints the table of evidence/fit/README.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseSettings } from "../src/allocator/settings.ts";
import { simulate } from "../src/allocator/simulate.ts";
import { type Case, recipeOfCase } from "../src/plan/case.ts";
import { execute } from "../src/plan/execute.ts";

interface Measured {
  readonly fits: boolean;
  readonly retries?: number;
  readonly peakAllocated?: number;
  readonly peakReserved?: number;
  readonly tokensPerSecond?: number | null;
  readonly alone?: boolean;
}

interface Run {
  readonly id: string;
  readonly ok: boolean;
  readonly torch?: string;
  readonly transformers?: string;
  readonly card?: string;
  readonly alone?: boolean;
  readonly steps?: readonly { readonly sec: number }[];
  readonly peak_allocated?: number;
  readonly peak_reserved: number;
  readonly alloc_retries?: number;
  readonly case: Case & { readonly cap_gb?: number; readonly model?: string; readonly accum?: number };
}

const FILE = new URL("../evidence/fit/runs.jsonl", import.meta.url);
const runs = readFileSync(FILE, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Run)
  .filter((run) => run.case.cap_gb);

function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
}

const measuredIn = (run: Run, tokens: number): Measured => {
  if (!run.ok) return { fits: false };
  const seconds = median((run.steps ?? []).slice(1).map(({ sec }) => sec));
  return {
    fits: true,
    retries: run.alloc_retries ?? 0,
    peakAllocated: run.peak_allocated!,
    peakReserved: run.peak_reserved,
    tokensPerSecond: seconds === null ? null : Math.round(tokens / seconds),
    alone: run.alone ?? false,
  };
};

const rows = runs.map((run) => {
  const { case: c } = run;
  const { tape } = execute(recipeOfCase(c));
  const free = simulate(tape).stats;
  const capped = simulate(tape, { settings: parseSettings(""), allowed: c.cap_gb! * 1e9 });
  const tokens = c.batch * c.seq * (c.accum ?? 1);
  return {
    run: run.id,
    model: c.model,
    recipe: `${c.lora ? `LoRA r${c.lora.r}` : "full"}, ${c.batch}×${c.seq}, accumulate ${c.accum ?? 1}, ${c.optim}, checkpoints ${c.ckpt}, loss ${c.loss ?? "default"}`,
    capGB: c.cap_gb!,
    predicted: {
      fits: capped.oom === null,
      retries: capped.oom === null ? capped.stats.retries : null,
      peakAllocated: free.allocated.peak,
      peakReserved: free.reserved.peak,
    },
    measured: measuredIn(run, tokens),
  };
});

const { card, torch, transformers } = runs.find((run) => run.ok)!;
const parts = {
  seeds: rows.filter(({ run }) => run.includes("seed")),
  grids: rows.filter(({ run }) => run.startsWith("grid")),
  scenarios: rows.filter(({ run }) => run.startsWith("fit-") && !run.includes("seed")),
};
for (const [name, part] of Object.entries(parts)) {
  const recorded = "python bench/record/steps.py bench/record/fit.jsonl OUT_DIR 3 turns";
  const file = new URL(`../evidence/fit-${name}.json`, import.meta.url);
  const text = {
    machine: { card, torch, transformers },
    recorded,
    from: "evidence/fit/runs.jsonl",
    rows: part,
  };
  writeFileSync(file, `${JSON.stringify(text, null, 1)}\n`);
}

const gb = (bytes: number): string => (bytes / 1e9).toFixed(2);
console.log("| run | cap | recipe | predicted | measured | predicted to fit | fits | tokens/s |");
console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
for (const { run, capGB, recipe, predicted, measured } of rows) {
  const retried = (n: number | null | undefined): string =>
    n ? `, ${n} ${n === 1 ? "retry" : "retries"}` : "";
  const { fits, peakAllocated, peakReserved, tokensPerSecond, alone, retries } = measured;
  const cells = [
    `\`${run}\``,
    capGB,
    recipe,
    `${gb(predicted.peakAllocated)} / ${gb(predicted.peakReserved)}`,
    fits ? `${gb(peakAllocated!)} / ${gb(peakReserved!)}` : "—",
    predicted.fits ? `yes${retried(predicted.retries)}` : "OOM",
    fits ? `yes${retried(retries)}` : "OOM",
    tokensPerSecond ? `${tokensPerSecond.toLocaleString("en")}${alone ? "" : " *"}` : "—",
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
