/**
 * Predicted against measured: `npm run bench:accuracy -- FILE.jsonl [--rows]`.
 * FILE holds measured runs, one JSON object a line (see docs/accuracy.md).
 */
import { existsSync, readFileSync } from "node:fs";
import { simulate } from "../src/allocator/simulate.ts";
import { execute } from "../src/plan/execute.ts";
import { type Case, recipeOfCase } from "../src/plan/case.ts";
import { Phase } from "../src/tape/vocabulary.ts";
import type { Tape } from "../src/tape/tape.ts";

interface Measured {
  readonly id: string;
  readonly case: Case & { readonly model?: string };
  readonly load_allocated: number;
  readonly peak_allocated: number;
  readonly peak_reserved: number;
  readonly loop?: string;
  readonly ok?: boolean;
}

interface Row {
  readonly id: string;
  readonly family: string;
  readonly method: string;
  readonly load: number;
  readonly allocated: number;
  readonly reserved: number;
  readonly ms: number;
}

const percentile = (values: readonly number[], p: number): number => {
  const sorted = values.map(Math.abs).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? NaN;
};
const median = (values: readonly number[]): number => percentile(values, 0.5);
const percent = (value: number): string => `${(100 * value).toFixed(2)}%`;

function loadedRow(tape: Tape): number {
  const { phase } = tape.columns;
  let row = 0;
  while (row < tape.length && phase[row] === Phase.load) row++;
  return row - 1;
}

const [file, ...flags] = process.argv.slice(2);
if (!file || !existsSync(file)) {
  console.error(
    `${file ? `${file}: no such file; ` : ""}usage: npm run bench:accuracy -- FILE.jsonl [--rows]`,
  );
  process.exit(2);
}
const runs = readFileSync(file, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Measured)
  .filter((r) => r.ok !== false);
const rows: Row[] = [];
const failures: string[] = [];
for (const run of runs) {
  try {
    const begin = performance.now();
    const { tape } = execute(recipeOfCase({ ...run.case, ...(run.loop ? { loop: run.loop } : {}) } as Case));
    const simulation = simulate(tape, { observe: true });
    const ms = performance.now() - begin;
    const loaded = loadedRow(tape);
    // Ranks of parallel runs were measured from the end of loading on.
    const from = run.case.parallel ? loaded : 0;
    const peak = (curve: Float64Array | null): number =>
      curve!.subarray(from).reduce((a, b) => Math.max(a, b), 0);
    rows.push({
      id: run.id,
      family: String(run.case.config["model_type"]),
      method: run.case.lora ? "lora" : "full",
      load: simulation.allocated![loaded]! / run.load_allocated - 1,
      allocated: peak(simulation.allocated) / run.peak_allocated - 1,
      reserved: peak(simulation.reserved) / run.peak_reserved - 1,
      ms,
    });
  } catch (error) {
    failures.push(`${run.id}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
if (flags.includes("--rows")) {
  for (const row of rows.toSorted((a, b) => Math.abs(b.allocated) - Math.abs(a.allocated))) {
    const c = runs.find((r) => r.id === row.id)!.case;
    console.log(
      `${row.id.padEnd(10)} load ${percent(row.load).padStart(8)} allocated ${percent(row.allocated).padStart(8)} reserved ${percent(row.reserved).padStart(8)} ${row.ms.toFixed(0).padStart(4)} ms  ${c.model ?? row.family} ${c.param_dtype}${c.autocast ? "+autocast" : ""} ${c.attn} ${c.ckpt} ${c.optim} ${c.batch}x${c.seq} accum ${c.accum}${c.mask ? " mask" : ""}${c.lora ? ` lora r${c.lora.r} p${c.lora.dropout} ${c.lora.targets.length}` : ""}`,
    );
  }
}
const groups = new Map<string, Row[]>();
for (const row of rows) {
  const key = `${row.family} ${row.method}`;
  groups.set(key, [...(groups.get(key) ?? []), row]);
}
console.log(
  "family and method        runs | load max | allocated median / p90 / max | reserved median / p90 / max | ms",
);
for (const [key, group] of [...groups].toSorted(([a], [b]) => a.localeCompare(b))) {
  const of = (pick: (row: Row) => number): string => {
    const values = group.map(pick);
    return `${percent(median(values))} / ${percent(percentile(values, 0.9))} / ${percent(percentile(values, 1))}`;
  };
  console.log(
    `${key.padEnd(24)} ${String(group.length).padStart(4)} | ${percent(
      percentile(
        group.map((r) => r.load),
        1,
      ),
    )} | ${of((r) => r.allocated)} | ${of((r) => r.reserved)} | ${median(group.map((r) => r.ms)).toFixed(0)}`,
  );
}
for (const failure of failures) console.log(`not answered: ${failure}`);
const all = (pick: (row: Row) => number): string => {
  const values = rows.map(pick);
  return `median ${percent(median(values))} p90 ${percent(percentile(values, 0.9))} max ${percent(percentile(values, 1))}`;
};
console.log(
  `answered ${rows.length}/${runs.length} | allocated ${all((r) => r.allocated)} | reserved ${all((r) => r.reserved)} | ${median(rows.map((r) => r.ms)).toFixed(1)} ms`,
);
