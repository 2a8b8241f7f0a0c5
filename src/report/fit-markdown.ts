import { formatBytes } from "../base/units.ts";
import type { FitResult } from "../fit/fit.ts";
import { COMPONENTS } from "../plan/budget.ts";
import { recipeWords } from "./plan-words.ts";

/** Before and after as a table, and the recipes that fit as another. */
export function fitMarkdown(result: FitResult): string {
  const { model, before, chosen, miss, recipes } = result;
  if (!chosen) {
    const nearest = miss ? `Nearest: ${recipeWords(miss.nearest)}, short by ${formatBytes(miss.short)}.` : "";
    return `**${model.name}**: nothing fits. ${nearest}\n`;
  }
  const shown = COMPONENTS.filter((name) => before.budget[name] > 0 || chosen.budget[name] > 0);
  const total = (budget: typeof before.budget): number =>
    COMPONENTS.reduce((sum, name) => sum + budget[name], 0);
  return [
    `**${model.name}**: ${recipeWords(chosen)}`,
    "",
    "| component | before | after |",
    "|---|---:|---:|",
    ...shown.map(
      (name) => `| ${name} | ${formatBytes(before.budget[name])} | ${formatBytes(chosen.budget[name])} |`,
    ),
    `| **on the card** | **${formatBytes(total(before.budget))}** | **${formatBytes(total(chosen.budget))}** |`,
    `| predicted tokens/s | ${before.tokensPerSecond.toFixed(0)} | ${chosen.tokensPerSecond.toFixed(0)} |`,
    "",
    "| recipe | tokens/s | reserved | spare | gives up |",
    "|---|---:|---:|---:|---|",
    ...recipes.map(
      (one) =>
        `| ${one.changes.map(({ name }) => name).join("; ") || "as it was"} | ${one.tokensPerSecond.toFixed(0)} | ${formatBytes(one.peak.reserved)} | ${formatBytes(one.verdict.spare)} | ${one.exactness} |`,
    ),
    "",
  ].join("\n");
}
