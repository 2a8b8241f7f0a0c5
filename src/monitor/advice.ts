import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { formatBytes, type Bytes } from "../base/units.ts";
import type { PlannedLadder } from "./planned-ladder.ts";
import { writeWhole } from "./run-folder.ts";
import type { RankSummary, RunSummary } from "./summary.ts";

/** What audit says about a line that the run pointed at. */
export interface FindingAt {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

/** What can be said about a run beyond what was measured: its recipe, planned, and its source, audited. */
export interface Advice {
  readonly version: 1;
  /** The file the recipe was read from; null when there was none, and then `why`. */
  readonly recipe: string | null;
  readonly why: string | null;
  /** What plan expects of this recipe. */
  readonly planned: { readonly allocated: Bytes; readonly reserved: Bytes } | null;
  readonly ladder: PlannedLadder | null;
  readonly findings: readonly FindingAt[];
  /** The two things most worth doing, the first first. */
  readonly todo: readonly string[];
}

const FILE = "advice.json";
/** Above this share of the card the next long batch may not fit. */
const TIGHT = 0.9;
/** Below this share there is room for twice the batch, as far as memory goes. */
const ROOMY = 0.45;

export function writeAdvice(folder: string, advice: Advice): void {
  writeWhole(join(folder, FILE), advice);
}

export function readAdvice(folder: string): Advice | null {
  const file = join(folder, FILE);
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Advice;
  } catch {
    return null;
  }
}

/** The lines a run points at: what leaks, where it ran out, what waits. */
export function linesOf(summary: RunSummary): { readonly file: string; readonly line: number }[] {
  const stacks = summary.ooms.flatMap((oom) => (oom["stack"] ?? []) as { file: string; line: number }[]);
  const places = [
    ...summary.leaks.flatMap((leak) => [
      ...(leak.file && leak.line ? [{ file: leak.file, line: leak.line }] : []),
      ...(leak.allocated_at ?? []),
    ]),
    ...stacks,
    ...summary.waits.map(({ file, line }) => ({ file, line })),
  ];
  return places.map(({ file, line }) => ({ file, line }));
}

export function worthDoing(
  summary: RunSummary,
  ladder: PlannedLadder | null,
  findings: readonly FindingAt[],
): string[] {
  const todo: string[] = [];
  for (const leak of summary.leaks)
    todo.push(
      `let go of what ${leak.file ? `${leak.file}:${leak.line}` : leak.held} keeps: detach it, take .item(), or bound the container`,
    );
  const fullest = fullestRank(summary);
  if (summary.ooms.length > 0 || (fullest && isTight(fullest))) todo.push(...memoryLever(ladder, fullest));
  for (const { file, line, rule, message } of findings) todo.push(`${file}:${line} ${rule}: ${message}`);
  if (
    fullest &&
    fullest.fragmentation > 0.25 &&
    fullest.total > 0 &&
    fullest.peakReserved > 0.6 * fullest.total
  )
    todo.push(
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: a quarter or more of the reserved memory was unused",
    );
  const data = fullest?.shares["data"] ?? 0;
  if (data > 0.2)
    todo.push(`${Math.round(data * 100)} % of the time waits for data: more dataloader workers`);
  if (
    fullest &&
    fullest.total > 0 &&
    summary.ooms.length === 0 &&
    fullest.peakReserved < ROOMY * fullest.total
  )
    todo.push(
      `${formatBytes(fullest.total - fullest.peakReserved)} of the card were never used: a larger micro-batch, or no checkpointing, would use them`,
    );
  return todo.slice(0, 2);
}

function memoryLever(ladder: PlannedLadder | null, fullest: RankSummary | undefined): string[] {
  const cheapest = ladder && (ladder.alone.find((rung) => rung.fits) ?? ladder.alone[0]);
  if (ladder && !ladder.fits && cheapest?.fits)
    return [
      `${cheapest.change}: ${formatBytes(ladder.reserved)} → ${formatBytes(cheapest.reserved)}, which fits (${cheapest.cost})`,
    ];
  const last = ladder?.together.at(-1);
  if (ladder && last?.fits)
    return [
      `${ladder.together.map((rung) => rung.change).join(", and ")}: ${formatBytes(ladder.reserved)} → ${formatBytes(last.reserved)}, which fits`,
    ];
  if (ladder && cheapest)
    return [
      `${cheapest.change}: ${formatBytes(ladder.reserved)} → ${formatBytes(cheapest.reserved)} by plan (${cheapest.cost})`,
    ];
  if (fullest && fullest.retries > 0)
    return ["memory was all but full (allocator retries): a smaller micro-batch or checkpointing"];
  return [];
}

export function isTight(rank: RankSummary): boolean {
  return rank.retries > 0 || (rank.total > 0 && rank.peakReserved > TIGHT * rank.total);
}

export function fullestRank(summary: RunSummary): RankSummary | undefined {
  return summary.ranks.toSorted((a, b) => b.reserved - a.reserved || a.rank - b.rank)[0];
}
