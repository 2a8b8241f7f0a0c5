import { formatBytes } from "../base/units.ts";
import type { Alert } from "../monitor/alerts.ts";
import { fullestRank, worthDoing, type Advice } from "../monitor/advice.ts";
import { generalLadder, isFragmented } from "../monitor/ladder.ts";
import type { Live } from "../monitor/observe.ts";
import type { RecordedEvent } from "../monitor/record.ts";
import type { RunFile } from "../monitor/run-folder.ts";
import type { PlannedLadder, PlannedRung } from "../monitor/planned-ladder.ts";
import type { DeepLine, RankSummary, RunSummary } from "../monitor/summary.ts";
import { bar } from "./bars.ts";
import { paint, type Paint } from "./paint.ts";

const BAR = 16;
const SHOWN = 4;

/** One line: where the run is and how full the fullest rank. */
export function liveLine(live: Live, width: number): string {
  const { summary } = live;
  const fullest = fullestRank(summary);
  if (!fullest) return "⦵ waiting for the first step";
  const parts = [`⦵ step ${fullest.steps.toLocaleString("en")}`];
  if (summary.loss !== null) parts.push(`loss ${summary.loss.toPrecision(4)}`);
  if (fullest.total > 0) {
    const filled = bar(fullest.reserved / fullest.total, BAR).padEnd(BAR, "·");
    parts.push(`${filled} ${formatBytes(fullest.allocated)} of ${formatBytes(fullest.total)}`);
    parts.push(`reserved ${formatBytes(fullest.reserved)}`, `peak ${formatBytes(fullest.peakAllocated)}`);
    if (live.outside !== null) parts.push(`outside ${formatBytes(live.outside)}`);
    if (live.free !== null) parts.push(`free ${formatBytes(live.free)}`);
  } else {
    parts.push(`process ${formatBytes(fullest.hostPeak)}`);
  }
  parts.push(`${fullest.stepsPerSecond.toPrecision(3)} steps/s`);
  if (fullest.growthPer100Steps > 1e5) parts.push(`+${formatBytes(fullest.growthPer100Steps)}/100`);
  if (summary.ranks.length > 1) parts.push(`rank ${fullest.rank} of ${summary.ranks.length}`);
  return parts.join(" · ").slice(0, width - 1);
}

export function alertText(alert: Alert, color: boolean): string {
  const p = paint(color);
  return `${p("yellow", "plimsoll:")} rank ${alert.rank}, step ${alert.step}: ${alert.message}\n          ${alert.advice}\n`;
}

export function runText(
  run: RunFile,
  summary: RunSummary,
  folder: string,
  color: boolean,
  advice: Advice | null,
): string {
  const p = paint(color);
  const lines = [`${p("bold", run.name)}: ${ending(run)}`];
  if (summary.ranks.length === 0) {
    lines.push("no optimizer step was seen: nothing was recorded");
    return lines.join("\n") + "\n";
  }
  for (const rank of summary.ranks) lines.push(...rankLines(rank, summary.ranks.length > 1, p));
  if (summary.loss !== null) lines.push(`  last logged loss ${summary.loss}${epoch(summary)}`);
  if (summary.slowestRank !== null) lines.push(`  slowest rank: ${summary.slowestRank}`);
  for (const leak of summary.leaks) {
    lines.push(
      "",
      `${p("red", "leak")} ${leak.file ? p("bold", `${leak.file}:${leak.line}`) : "(no line of yours)"}  ${formatBytes(leak.per_step)} a step, seen at step ${leak.step}, confidence ${leak.confidence}`,
    );
    if (leak.text) lines.push(`  ${leak.text}`);
    lines.push(`  keeps ${leak.tensor} alive through ${leak.held}; ${leak.why}`);
    for (const place of leak.allocated_at ?? [])
      lines.push(
        `  ${formatBytes(place.bytes)} of it allocated at ${place.file}:${place.line}  ${place.text}`,
      );
  }
  for (const oom of summary.ooms) lines.push("", ...oomLines(oom, advice, p));
  lines.push(...deepLines(summary));
  if (advice?.planned) lines.push("", plannedLine(advice, summary));
  const todo = advice?.todo ?? worthDoing(summary, null, []);
  if (todo.length > 0)
    lines.push("", "most worth doing:", ...todo.map((text, index) => `  ${index + 1}. ${text}`));
  lines.push("", p("dim", `recorded in ${folder}`));
  return lines.join("\n") + "\n";
}

export function runsText(runs: readonly { run: RunFile; summary: RunSummary | null }[]): string {
  if (runs.length === 0) return "no recorded runs here: plimsoll run -- python train.py …\n";
  const rows = runs.map(({ run, summary }) => {
    const peak = Math.max(0, ...(summary?.ranks.map((rank) => rank.peakAllocated || rank.hostPeak) ?? []));
    return [
      run.name,
      String(Math.max(0, ...(summary?.ranks.map((rank) => rank.steps) ?? []))),
      peak ? formatBytes(peak) : "",
      summary ? findings(summary) : "",
      run.ended ? `exit ${run.exit}` : "running, or cut off",
    ];
  });
  const head = ["run", "steps", "peak", "findings", "end"];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  return (
    [head, ...rows]
      .map((row) =>
        row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join("  ")
          .trimEnd(),
      )
      .join("\n") + "\n"
  );
}

function rankLines(rank: RankSummary, several: boolean, p: Paint): string[] {
  const indent = "  ";
  const name = several ? `rank ${rank.rank} on ${rank.host}: ` : "";
  const rate = `${rank.stepsPerSecond.toPrecision(3)} steps/s`;
  const micro = rank.microBatches > 1 ? `, ${rank.microBatches} micro-batches a step` : "";
  const lines = [
    rank.steps > 0
      ? `${indent}${name}${rank.steps.toLocaleString("en")} steps, ${rate}${micro}`
      : `${indent}${name}no step was finished`,
  ];
  if (rank.total > 0) {
    lines.push(
      `${indent}peak ${p("bold", formatBytes(rank.peakAllocated))} allocated (first reached at step ${rank.peakStep}), ${formatBytes(rank.peakReserved)} reserved of ${formatBytes(rank.total)} on ${rank.device}`,
      `${indent}growth ${formatBytes(rank.growthPer100Steps)} in 100 steps, unused ${Math.round(rank.fragmentation * 100)} % of what was reserved at its peak, retries ${rank.retries}`,
    );
  }
  const workers = rank.workersPeak > 0 ? `, its child processes ${formatBytes(rank.workersPeak)}` : "";
  lines.push(`${indent}process memory ${formatBytes(rank.hostPeak)}${workers}`);
  const spent = Object.entries(rank.shares).filter(([, share]) => share >= 0.01);
  if (spent.length > 0)
    lines.push(
      `${indent}time: ${spent.map(([phase, share]) => `${phase} ${Math.round(share * 100)} %`).join(", ")}`,
    );
  if (rank.lostRows > 0)
    lines.push(`${indent}${rank.lostRows} steps were not recorded: the disk was too slow`);
  return lines;
}

/** The same for a page: one text a line. */
export function oomText(oom: RecordedEvent, advice: Advice | null): string[] {
  return oomLines(oom, advice, paint(false)).map((line) => line.trim());
}

function oomLines(oom: RecordedEvent, advice: Advice | null, p: Paint): string[] {
  const bytes = (name: string): string => formatBytes(Number(oom[name] ?? 0));
  const lines = [
    `${p("red", "out of memory")} at step ${oom.step}, in ${String(oom["phase"])}${oom["module"] ? ` of ${String(oom["module"])}` : ""}, rank ${oom["rank"]}`,
  ];
  if (oom["asked"] !== undefined) {
    const outside = Number(oom["total"]) - Number(oom["free"]) - Number(oom["reserved"]);
    const limited = Number(oom["free"]) > Number(oom["total"]);
    lines.push(
      `  asked ${bytes("asked")}; allocated ${bytes("allocated")}, reserved ${bytes("reserved")}, free on the card ${bytes("free")}${limited ? "" : ` of ${bytes("total")}`}`,
      `  largest free block ${bytes("largest_free_block")} of ${bytes("reserved_free")} free in the cache: ${isFragmented(oom) ? "fragmented" : "full"}`,
      limited
        ? `  this process was limited to ${bytes("total")}: the card itself had room`
        : `  outside this process's PyTorch ${formatBytes(Math.max(0, outside))}`,
    );
  }
  if (oom["message"]) lines.push(`  ${String(oom["message"])}`);
  const kinds = Object.entries((oom["kinds"] ?? {}) as { [kind: string]: number });
  const python = kinds.reduce((sum, [, size]) => sum + size, 0);
  const rest = Number(oom["allocated"] ?? 0) - python;
  if (rest > 0) kinds.push(["held by autograd and kernels", rest]);
  const shown = kinds.filter(([, size]) => size > 0).toSorted((a, b) => b[1] - a[1]);
  if (shown.length > 0)
    lines.push(`  it held: ${shown.map(([kind, size]) => `${kind} ${formatBytes(size)}`).join(", ")}`);
  const modules = (oom["modules"] ?? []) as { module: string; bytes: number }[];
  if (modules.length > 0)
    lines.push(
      `  weights, gradients and optimizer state by module: ${modules
        .slice(0, SHOWN)
        .map(({ module, bytes: size }) => `${module} ${formatBytes(size)}`)
        .join(", ")}`,
    );
  const unnamed = (oom["unnamed"] ?? []) as { size: number; count: number }[];
  if (unnamed.length > 0)
    lines.push(
      `  largest blocks that no tensor of Python's owns: ${unnamed
        .slice(0, SHOWN)
        .map(({ size, count }) => `${count} × ${formatBytes(size)}`)
        .join(", ")}`,
    );
  for (const one of (
    (oom["stacks"] ?? []) as { file: string; line: number; text: string; bytes: number }[]
  ).slice(0, SHOWN))
    lines.push(`  ${formatBytes(one.bytes)} of them allocated at ${one.file}:${one.line}  ${one.text}`);
  const [place] = (oom["stack"] ?? []) as { file: string; line: number; text: string }[];
  if (place) lines.push(`  at ${place.file}:${place.line}  ${place.text}`);
  if (oom["snapshot"]) lines.push(`  snapshot: ${String(oom["snapshot"])} (plimsoll inspect opens it)`);
  if (advice?.ladder && !advice.ladder.fits) lines.push(...ladderLines(advice.ladder, advice.recipe!));
  else {
    lines.push(`  what would make room, cheapest first (in general terms: ${whyGeneral(advice)}):`);
    for (const { change, effect } of generalLadder(oom)) lines.push(`    ${change}: ${effect}`);
  }
  return lines;
}

function whyGeneral(advice: Advice | null): string {
  if (advice?.ladder?.fits)
    return `plan expects ${formatBytes(advice.ladder.reserved)} of ${advice.recipe}, which fits: what ran out is not in the recipe`;
  return `the recipe of this run is not known${advice?.why ? `: ${advice.why}` : ""}`;
}

function ladderLines({ reserved, usable, alone, together }: PlannedLadder, file: string): string[] {
  const rung = ({ change, cost, reserved: after, fits }: PlannedRung): string =>
    `    ${change}: ${formatBytes(after)}${fits ? ", fits" : ""}  (${cost})`;
  const lines = [
    `  what would make room, cheapest first: plan for ${file} as it stands needs ${formatBytes(reserved)}, and ${formatBytes(usable)} were to be had`,
    ...alone.map(rung),
  ];
  if (together.length > 0)
    lines.push(
      `  none of them alone; one on the other${together.at(-1)!.fits ? "" : " (does not fit even so)"}:`,
      ...together.map(rung),
    );
  return lines;
}

/** What a deep window counted, by line. */
function deepLines({ waits, copies }: RunSummary): string[] {
  const line = (one: DeepLine, what: string): string =>
    `  ${one.per_step} ${what} a step at ${one.file}:${one.line}  ${one.text}`;
  const shown = [
    ...waits.slice(0, SHOWN).map((one) => line(one, "waits")),
    ...copies.slice(0, SHOWN).map((one) => line(one, `copies ${one.from} → ${one.to}`)),
  ];
  return shown.length > 0 ? ["", "in the deep window:", ...shown] : [];
}

function plannedLine({ planned, recipe }: Advice, summary: RunSummary): string {
  const measured = fullestRank(summary)!;
  return `plan for ${recipe} as it stands: peak ${formatBytes(planned!.allocated)} allocated, ${formatBytes(planned!.reserved)} reserved; ${summary.ooms.length > 0 ? "when it ran out it had reached" : "measured"} ${formatBytes(measured.peakAllocated)} and ${formatBytes(measured.peakReserved)}`;
}

function findings(summary: RunSummary): string {
  const parts = [];
  if (summary.leaks.length > 0)
    parts.push(`${summary.leaks.length} leak${summary.leaks.length > 1 ? "s" : ""}`);
  if (summary.ooms.length > 0) parts.push("out of memory");
  return parts.join(", ");
}

function epoch(summary: RunSummary): string {
  return summary.epoch === null ? "" : ` in epoch ${summary.epoch}`;
}

export function ending(run: RunFile): string {
  if (!run.ended) return "running, or cut off";
  const seconds = Math.round((Date.parse(run.ended) - Date.parse(run.started)) / 1000);
  return `${run.signal ? `ended by ${run.signal}` : `exit ${run.exit}`} after ${seconds} s`;
}
