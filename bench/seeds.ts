/**
 * The five systems of the seed documents, through the whole product: `npm run --silent seeds [-- NAME…]`.
 *
 * Each workload at its tiny size on the CPU: audit → audit --fix → plan → fit → run → verify. The measured columns are
 * the full size on a GPU, read from evidence/seeds; plans must come within 3 % of them. What does not hold is named,
 * and counts against the last line.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatBytes } from "../src/base/units.ts";
import { runChain, type Outcome } from "./seeds/chain.ts";
import { recorded } from "./seeds/evidence.ts";
import { WORKLOADS } from "./seeds/workloads.ts";

const EVIDENCE = fileURLToPath(new URL("../evidence/seeds", import.meta.url));
const wanted = process.argv.slice(2);
const waiting = WORKLOADS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const unordered: Outcome[] = [];
// Each training has one thread, so two at once do not get in each other's way.
await Promise.all(Array.from({ length: Math.min(2, cpus().length) }, work));
const outcomes = WORKLOADS.flatMap((workload) => unordered.filter((one) => one.workload === workload));

async function work(): Promise<void> {
  for (let workload = waiting.shift(); workload; workload = waiting.shift()) {
    const scratch = mkdtempSync(join(tmpdir(), "plimsoll-seeds-"));
    try {
      unordered.push(await runChain(workload, scratch, (text) => process.stderr.write(`${text}\n`)));
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
}

const header = ["workload", "the seed says", "predicted", "measured before", "measured after"];
const rows = [header, ...outcomes.map(row)];
const widths = header.map((_, column) => Math.max(...rows.map((cells) => cells[column]!.length)));
for (const cells of rows)
  process.stdout.write(
    `${cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd()}\n`,
  );
for (const { workload, failures } of outcomes)
  for (const failure of failures) process.stdout.write(`${workload.name}: ${failure}\n`);
const holding = outcomes.filter(({ failures }) => failures.length === 0).length;
process.stdout.write(`seeds: ${holding} of ${outcomes.length}\n`);
process.exitCode = holding === WORKLOADS.length || (wanted.length > 0 && holding === outcomes.length) ? 0 : 1;

function row({ workload: { name, claim }, plans }: Outcome): string[] {
  const predicted = ["before", "after"]
    .map((side) => plans.get(`${name}-${side}`))
    .flatMap((plan) => (plan ? [formatBytes(plan.peak.allocated)] : []))
    .join(" → ");
  return [name, claim, predicted, measured(`${name}-before`), measured(`${name}-after`)];
}

function measured(run: string): string {
  const found = recorded(EVIDENCE, run);
  if (!found) return "—";
  const growth = found.growthPer100Steps;
  const grows = growth > 1e8 ? `, +${formatBytes(growth)} in 100 steps` : "";
  return `${formatBytes(found.peak)}, ${found.seconds.toFixed(2)} s a step${grows}`;
}
