import { formatBytes } from "../base/units.ts";
import type { FitResult, Marginal, Ranked } from "../fit/fit.ts";
import { COMPONENTS } from "../plan/budget.ts";
import { paint, type Paint } from "./paint.ts";
import { article } from "./plan-text.ts";
import { formatCount, recipeWords } from "./plan-words.ts";

/** What the search found, as a person reads it: the answer first. */
export function fitText(result: FitResult, color: boolean): string {
  const ink = paint(color);
  return [
    head(result, ink),
    beforeAfter(result, ink),
    recipes(result, ink),
    changes(result, ink),
    unused(result, ink),
    front(result, ink),
    searched(result),
  ]
    .filter(Boolean)
    .join("\n\n")
    .concat("\n");
}

const rate = (tokensPerSecond: number): string =>
  tokensPerSecond >= 100 ? tokensPerSecond.toFixed(0) : tokensPerSecond.toPrecision(2);

function head(result: FitResult, ink: Paint): string {
  const { model, card, cards, before, chosen, miss, effectiveBatch } = result;
  const on = `${cards > 1 ? `${cards} × ` : ""}${article(card.name)}`;
  const lines: string[] = [];
  if (chosen) {
    lines.push(
      `${ink("green", `fits with ${formatBytes(chosen.verdict.spare)} to spare`)} on ${on}: ${rate(chosen.tokensPerSecond)} tokens/s predicted`,
      `${model.name} (${formatCount(model.parameters)} parameters), effective batch ${effectiveBatch}: ${recipeWords(chosen)}`,
    );
    if (chosen.host) lines.push(`host memory: ${formatBytes(chosen.host.total)} beside the process itself`);
    if (result.recipes[0] && !result.recipes[0].safe)
      lines.push(
        `${ink("yellow", "close")}: less is spare than predictions of this kind have been off by at worst`,
      );
  } else if (miss) {
    lines.push(
      `${ink("red", `nothing fits: short by ${formatBytes(miss.short)}`)} on ${on}`,
      `${model.name} (${formatCount(model.parameters)} parameters), effective batch ${effectiveBatch}`,
      `nearest: ${recipeWords(miss.nearest)}: ${formatBytes(miss.nearest.peak.reserved)} reserved`,
      miss.smallestCard
        ? `smallest card that would do: ${miss.smallestCard} (${formatBytes(miss.needs)} needed with the CUDA context)`
        : `no single card would do: ${formatBytes(miss.needs)} needed with the CUDA context`,
      miss.cards === null
        ? "several such cards would not do either, up to 32 of them under FSDP2"
        : `or ${miss.cards} such cards, under FSDP2 with checkpointing: --cards ${miss.cards}x…`,
    );
    if (result.hostMemory === null) lines.push("nothing was placed in host memory: --host 128GB allows it");
  }
  const { verdict } = before;
  const was = verdict.fits
    ? `fits with ${formatBytes(verdict.spare)} to spare`
    : `short by ${formatBytes(-verdict.spare)}`;
  lines.push(`before: ${was}, ${rate(before.tokensPerSecond)} tokens/s: ${recipeWords(before)}`);
  for (const note of result.notes) lines.push(`${ink("yellow", "note")}: ${note}`);
  return lines.join("\n");
}

function beforeAfter({ before, chosen }: FitResult, ink: Paint): string {
  if (!chosen) return "";
  const lines = [`${ink("bold", "Peak")}${" ".repeat(16)}${"before".padStart(9)} ${"after".padStart(9)}`];
  for (const name of COMPONENTS) {
    const [a, b] = [before.budget[name], chosen.budget[name]];
    if (a > 0 || b > 0)
      lines.push(`  ${name.padEnd(17)} ${formatBytes(a).padStart(9)} ${formatBytes(b).padStart(9)}`);
  }
  const total = (budget: FitResult["before"]["budget"]): string =>
    formatBytes(COMPONENTS.reduce((sum, name) => sum + budget[name], 0)).padStart(9);
  lines.push(`  ${"on the card".padEnd(17)} ${total(before.budget)} ${total(chosen.budget)}`);
  lines.push(`  binding moment: ${before.moment.when} → ${chosen.moment.when}`);
  return lines.join("\n");
}

function recipes({ recipes: all }: FitResult, ink: Paint): string {
  if (all.length === 0) return "";
  const best = Math.max(...all.map(({ tokensPerSecond }) => tokensPerSecond));
  const lines = [
    `${ink("bold", "Recipes that fit")}, tokens/s predicted, reserved at the peak, what they give up`,
  ];
  for (const [at, one] of all.entries()) {
    const behind = 1 - one.tokensPerSecond / best;
    const slower = behind > 0.005 ? `${(100 * behind).toFixed(0)} % slower` : "";
    lines.push(
      `  ${at + 1}  ${rate(one.tokensPerSecond).padStart(6)}/s ${formatBytes(one.peak.reserved).padStart(8)}  ${[one.exactness, slower, one.safe ? "" : "close"].filter(Boolean).join(", ")}`,
      `     ${ink("dim", changeWords(one))}`,
    );
  }
  return lines.join("\n");
}

const changeWords = ({ changes: made }: Ranked): string =>
  made.length === 0 ? "as it was" : made.map(({ name }) => name).join("; ");

function changes({ changes: made }: FitResult, ink: Paint): string {
  if (made.length === 0) return "";
  const width = Math.max(...made.map(({ name }) => name.length));
  return [
    `${ink("bold", "What each change does")} in the first: peak and step time against the same recipe without it`,
    ...made.map(
      (one) =>
        `  ${one.name.padEnd(width)}  ${marginal(one)}  ${ink("dim", `${one.exactness}: ${one.gives}`)}`,
    ),
  ].join("\n");
}

function marginal({ memory, time, fitsWithout }: Marginal): string {
  if (memory === null) return "the others need it".padEnd(29);
  const bytes = memory === 0 ? "0 B" : `${memory > 0 ? "−" : "+"}${formatBytes(Math.abs(memory))}`;
  const seconds = time === null ? "" : `${time > 0 ? "−" : "+"}${Math.abs(time).toFixed(2)} s`;
  return `${bytes.padStart(9)} ${seconds.padStart(9)} ${(fitsWithout ? "" : "needed").padEnd(9)}`;
}

function unused({ unused: levers }: FitResult, ink: Paint): string {
  if (levers.length === 0) return "";
  return [ink("bold", "Left alone"), ...levers.map(({ name, why }) => `  ${name}: ${why}`)].join("\n");
}

function front({ front: points }: FitResult, ink: Paint): string {
  if (points.length < 2) return "";
  const shown = points.map(({ peak, tokensPerSecond }) => `${rate(tokensPerSecond)}/s ${formatBytes(peak)}`);
  return `${ink("bold", "Least memory at each speed")}, allocated, of what was looked at: ${shown.join(", ")}`;
}

function searched({ counts }: FitResult): string {
  const count = (value: number): string => value.toLocaleString("en");
  return `${count(counts.considered)} recipes: ${count(counts.rules)} against the rules, ${count(counts.host)} for want of host memory, ${count(counts.memory)} cannot fit, ${count(counts.dominance)} no better than another, ${count(counts.simulated)} simulated on the card, the rest slower`;
}
