/**
 * What error each kind of recipe has shown: `npm run bench:bands`.
 * Reads the measured runs in evidence/accuracy, methods and parallel, predicts each, writes src/plan/bands.ts.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { simulate } from "../src/allocator/simulate.ts";
import type { Measured, Spread } from "../src/plan/band.ts";
import { kindsOf } from "../src/plan/band.ts";
import { type Case, recipeOfCase } from "../src/plan/case.ts";
import { execute } from "../src/plan/execute.ts";
import { Phase } from "../src/tape/vocabulary.ts";

const FOLDERS = ["evidence/accuracy", "evidence/methods", "evidence/parallel"];

interface Run {
  readonly case: Case;
  readonly loop?: Case["loop"];
  readonly peak_allocated: number;
  readonly peak_reserved: number;
}

const errors = new Map<string, { readonly allocated: number[]; readonly reserved: number[] }>();
const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl"))
    .map((file) => join(folder, file)),
);
for (const file of files) {
  for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const run = JSON.parse(line) as Run;
    const recipe = recipeOfCase(run.loop ? { ...run.case, loop: run.loop } : run.case);
    const parallel = recipe.parallel.kind !== "none";
    const { tape } = execute(recipe);
    const curves = simulate(tape, { observe: true });
    // Ranks of parallel runs were measured from the end of loading on.
    let from = 0;
    if (parallel) while (tape.columns.phase[from + 1] === Phase.load) from++;
    const peak = (curve: Float64Array | null): number =>
      curve!.subarray(from).reduce((a, b) => Math.max(a, b), 0);
    // A run with a special loss or the like says nothing of its kind without it.
    const [narrowest, second, ...broader] = kindsOf(recipe);
    const special = second!.startsWith(`${narrowest!.split(", ").slice(0, 3).join(", ")}`);
    for (const kind of parallel ? [narrowest!] : [narrowest!, ...(special ? [] : [second!]), ...broader]) {
      const group = errors.get(kind) ?? { allocated: [], reserved: [] };
      errors.set(kind, group);
      group.allocated.push(Math.abs(peak(curves.allocated) / run.peak_allocated - 1));
      group.reserved.push(Math.abs(peak(curves.reserved) / run.peak_reserved - 1));
    }
  }
}

/** Rounded up: a band must not claim more than was shown. */
const up = (value: number): number => Math.ceil(value * 1e4) / 1e4;

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { p90: up(sorted[Math.ceil(0.9 * sorted.length) - 1]!), worst: up(sorted.at(-1)!) };
}

const bands: Record<string, Measured> = {};
for (const [kind, { allocated, reserved }] of [...errors].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
  bands[kind] = { runs: allocated.length, allocated: spread(allocated), reserved: spread(reserved) };
}
writeFileSync(
  "src/plan/bands.ts",
  `import type { Measured } from "./band.ts";

/** Written by bench/bands.ts from ${files.join(", ")}. */
export const BANDS: Readonly<Record<string, Measured>> = ${JSON.stringify(bands, null, 2)};
`,
);
console.log(`${files.length} files, ${errors.size} kinds`);
for (const [kind, { runs, allocated, reserved }] of Object.entries(bands)) {
  const percent = ({ p90, worst }: Spread): string =>
    `p90 ${(100 * p90).toFixed(2)} % worst ${(100 * worst).toFixed(2)} %`;
  console.log(
    `${kind.padEnd(32)} ${String(runs).padStart(4)} runs  allocated ${percent(allocated)}  reserved ${percent(reserved)}`,
  );
}
