import { formatBytes } from "../base/units.ts";
import { COMPONENTS } from "../plan/budget.ts";
import type { PlanResult } from "../plan/result.ts";
import { bar } from "./bars.ts";
import { paint, type Paint } from "./paint.ts";
import { formatCount, recipeWords } from "./plan-words.ts";

const BAR_CELLS = 28;
const LEVERS_SHOWN = 6;
const PARTS_SHOWN = 4;
const RANKS_SHOWN = 16;
/** Below this a ninth decile says no more than the worst. */
const MANY_RUNS = 10;
/** Smaller shares would be printed as 0.00 %. */
const LEAST_SHOWN = 0.00005;

export interface PlanTextOptions {
  readonly color: boolean;
  readonly width: number;
}

/** The plan as a person reads it: the verdict first. */
export function planText(result: PlanResult, { color, width }: PlanTextOptions): string {
  const ink = paint(color);
  return [
    [
      ...verdict(result, ink),
      ...ranks(result, width),
      ...hostVerdict(result, ink),
      ...wrap(about(result), width),
    ].join("\n"),
    source(result, ink),
    budget(result, ink),
    moment(result, ink),
    levers(result, ink),
    wrap(band(result, ink), width).join("\n"),
  ]
    .filter(Boolean)
    .join("\n\n")
    .concat("\n");
}

function about(result: PlanResult): string {
  const { model, trainable } = result;
  const here = /^(?:tensor|pipeline)$/.test(result.recipe.parallel.kind) ? " on this rank" : "";
  const trained = trainable === model.parameters ? "" : `, ${formatCount(trainable)} trained${here}`;
  const notes = result.notes.map((note) => `; ${note}`).join("");
  return `${model.name} (${model.type}), ${formatCount(model.parameters)} parameters${trained}: ${recipeWords(result)}${notes}`;
}

function verdict({ verdict: judged, card, peak, band: { reserved } }: PlanResult, ink: Paint): string[] {
  if (!judged || !card)
    return [`needs ${formatBytes(peak.reserved)}, and the CUDA context (no --card to judge it on)`];
  const on = `on ${article(card.name)} (${formatBytes(judged.usable)} usable: ${formatBytes(card.memory)} less ${formatBytes(card.context)} for the CUDA context)`;
  const lines = judged.fits
    ? [`${ink("green", `fits with ${formatBytes(judged.spare)} to spare`)} ${on}`]
    : [`${ink("red", `does not fit: short by ${formatBytes(-judged.spare)}`)} ${on}`];
  if (judged.fits && judged.retries > 0) {
    lines.push(
      `  ${ink("yellow", "tight")}: it would reserve ${formatBytes(peak.reserved)}, and fits by giving back cached memory (${judged.retries} ${judged.retries === 1 ? "retry" : "retries"})`,
    );
  } else if (judged.close) {
    lines.push(
      `  ${ink("yellow", "close")}: within ${formatBytes(judged.margin)}, what predictions of this kind (${percent(reserved.worst)} at worst) and the context vary by`,
    );
  }
  return lines;
}

/** Alike, or each with what it needs; the rest of the text is of the worst. */
function ranks({ ranks: found }: PlanResult, width: number): string[] {
  if (!found) return [];
  const { worst, all } = found;
  if (all.every(({ reserved }) => reserved === all[0]!.reserved))
    return [`  on each of ${all.length} ranks, all alike`];
  const each = all
    .slice(0, RANKS_SHOWN)
    .map(({ rank, reserved, fits }) => `${rank} ${formatBytes(reserved)}${fits === false ? " (short)" : ""}`);
  const more = all.length > RANKS_SHOWN ? `, and ${all.length - RANKS_SHOWN} more` : "";
  const [first, ...rest] = wrap(
    `on rank ${worst}, the worst of ${all.length}; reserved by rank: ${each.join(", ")}${more}`,
    width - 2,
  );
  return [`  ${first}`, ...rest];
}

export const article = (name: string): string => (/^\d/.test(name) ? `a ${name}` : `the ${name}`);

function hostVerdict({ host, recipe: { parallel } }: PlanResult, ink: Paint): string[] {
  if (!host) return [];
  const parts = [
    [
      parallel.offload ? "weights, gradients and optimizer state of all ranks" : "weight and gradient copies",
      host.copies,
    ],
    ["optimizer state", host.optimizerState],
    ["activations", host.activations],
  ] as const;
  const made = parts
    .filter(([, bytes]) => bytes > 0)
    .map(([name, bytes]) => `${name} ${formatBytes(bytes)}`)
    .join(", ");
  const needs = `host memory: ${formatBytes(host.total)} beside the process itself (${made})`;
  if (!host.verdict) return [needs];
  const { fits, spare, memory } = host.verdict;
  return [
    fits
      ? `${needs}: ${ink("green", `fits with ${formatBytes(spare)} to spare`)} in ${formatBytes(memory)}`
      : `${needs}: ${ink("red", `does not fit: short by ${formatBytes(-spare)}`)} in ${formatBytes(memory)}`,
  ];
}

function source({ source: read }: PlanResult, ink: Paint): string {
  if (!read) return "";
  const lines = [`${ink("bold", "Read from")} ${read.file} (${read.framework})`];
  for (const { field, value, key, place } of read.found)
    lines.push(`  ${field} ${shown(value)}  ${ink("dim", `${place} ${key}`)}`);
  for (const { field, value, why } of read.assumed)
    lines.push(`  ${ink("yellow", "assumed")} ${field} ${shown(value)}: ${why}`);
  for (const warning of read.warnings) lines.push(`  ${ink("yellow", "note")}: ${warning}`);
  return lines.join("\n");
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function budget({ budget: parts, peak, phases }: PlanResult, ink: Paint): string {
  const total = COMPONENTS.reduce((sum, name) => sum + parts[name], 0);
  const lines = [
    `${ink("bold", "Peak")}: ${formatBytes(peak.allocated)} allocated, ${formatBytes(peak.reserved)} reserved, ${formatBytes(total)} on the card`,
  ];
  for (const name of COMPONENTS) {
    const bytes = parts[name];
    const part = bytes / total;
    if (part < LEAST_SHOWN) continue;
    lines.push(
      `  ${name.padEnd(18)} ${formatBytes(bytes).padStart(9)} ${percent(part).padStart(7)}  ${ink("cyan", bar(part, BAR_CELLS))}`,
    );
  }
  lines.push(
    `  highest in each phase: ${phases.map((p) => `${p.phase} ${formatBytes(p.allocated)}`).join(", ")}`,
  );
  return lines.join("\n");
}

function moment({ moment: at }: PlanResult, ink: Paint): string {
  const shown = at.parts.slice(0, PARTS_SHOWN);
  const most = shown[0];
  const title = most ? `${at.when}: ${most.what}, ${formatBytes(most.bytes)}` : at.when;
  const lines = [`${ink("bold", "Binding moment")}: ${title}`];
  for (const { what, bytes, count } of shown) {
    lines.push(`  ${formatBytes(bytes).padStart(9)}  ${what}${count > 1 ? ` (${count})` : ""}`);
  }
  const rest = at.parts.slice(PARTS_SHOWN).reduce((sum, part) => sum + part.bytes, 0);
  if (rest > 0) lines.push(`  ${formatBytes(rest).padStart(9)}  other`);
  lines.push(
    `  ${formatBytes(at.standing).padStart(9)}  stays throughout: weights, adapters, optimizer state, workspaces`,
  );
  return lines.join("\n");
}

function levers({ levers: all, peak, verdict: judged }: PlanResult, ink: Paint): string {
  const helping = all.filter((lever) => lever.reserved < peak.reserved);
  const useless = all.filter((lever) => lever.reserved >= peak.reserved);
  if (all.length === 0) return "";
  const lines = [`${ink("bold", "One lever alone")}, reserved at the peak`];
  const width = Math.max(0, ...helping.slice(0, LEVERS_SHOWN).map(({ name }) => name.length));
  for (const { name, cost, reserved, fits } of helping.slice(0, LEVERS_SHOWN)) {
    const mark = !judged ? "" : fits ? ink("green", " fits") : "     ";
    lines.push(
      `  ${name.padEnd(width)}  ${formatBytes(peak.reserved)} → ${formatBytes(reserved).padStart(8)} ${`-${formatBytes(peak.reserved - reserved)}`.padStart(9)}${mark}  ${ink("dim", cost)}`,
    );
  }
  if (helping.length > LEVERS_SHOWN) {
    const more = helping.slice(LEVERS_SHOWN).map(({ name }) => name);
    lines.push(`  less: ${more.join("; ")}`);
  }
  if (useless.length > 0) lines.push(`  no use here: ${useless.map(({ name }) => name).join("; ")}`);
  return lines.join("\n");
}

function band({ band: { kind, runs, allocated, reserved, widened } }: PlanResult, ink: Paint): string {
  const title = ink("bold", "Error band");
  if (widened !== "") {
    return (
      `${title}: taken to be ${percent(allocated.p90)} of allocated and ${percent(reserved.p90)} of reserved, ` +
      `${percent(allocated.worst)} and ${percent(reserved.worst)} at worst: ${widened}`
    );
  }
  if (runs < MANY_RUNS) {
    return (
      `${title}: the worst of ${runs} measured runs of this kind (${kind}) was off by ${percent(allocated.worst)} ` +
      `of allocated, and one by ${percent(reserved.worst)} of reserved`
    );
  }
  return (
    `${title}: nine in ten of ${runs} measured runs of this kind (${kind}) were within ${percent(allocated.p90)} ` +
    `of allocated and ${percent(reserved.p90)} of reserved; the worst ${percent(allocated.worst)} and ${percent(reserved.worst)}`
  );
}

/** The space does not break: a number and its sign stay on one line. */
const percent = (part: number): string => `${(part * 100).toFixed(part < 0.0995 ? 2 : 1)}\u00a0%`;

/** Breaks a line between words; colour codes are taken for text, which only makes a line shorter. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
