import { formatBytes } from "../base/units.ts";
import { type Budget, COMPONENTS } from "../plan/budget.ts";
import type { PlanResult } from "../plan/result.ts";
import { recipeWords } from "./plan-words.ts";

export interface Column {
  readonly title: string;
  readonly budget: Budget;
  readonly allocated: number;
  readonly reserved: number;
}

/** Smaller shares of the whole are left out. */
const LEAST_SHOWN = 0.0005;

/** A before/after budget table. */
export function planMarkdown(result: PlanResult, before: Column, after: Column | null): string {
  const columns = after ? [before, after] : [before];
  const total = ({ budget }: Column): number => COMPONENTS.reduce((sum, name) => sum + budget[name], 0);
  const row = (name: string, pick: (column: Column) => number, strong = false): string => {
    const cells = columns.map((column) => formatBytes(pick(column)));
    if (after) cells.push(change(pick(before), pick(after)));
    return `| ${[name, ...cells].map((cell) => (strong ? `**${cell}**` : cell)).join(" | ")} |`;
  };
  const shown = COMPONENTS.filter((name) =>
    columns.some((column) => column.budget[name] > LEAST_SHOWN * total(column)),
  );
  const titles = ["component", ...columns.map(({ title }) => title), ...(after ? ["change"] : [])];
  return [
    `**${result.model.name}**: ${recipeWords(result)}`,
    "",
    `| ${titles.join(" | ")} |`,
    `|${titles.map((_, at) => (at === 0 ? "---" : "---:")).join("|")}|`,
    ...shown.map((name) => row(name, ({ budget }) => budget[name])),
    row("on the card", total, true),
    row("of it allocated by tensors", ({ allocated }) => allocated),
    ...(result.card
      ? [`| card | ${verdicts(result, columns, total).join(" | ")} |${after ? " |" : ""}`]
      : []),
    "",
  ].join("\n");
}

function verdicts(result: PlanResult, columns: readonly Column[], total: (c: Column) => number): string[] {
  const memory = result.card!.memory;
  return columns.map((column) => {
    const spare = memory - total(column);
    return spare >= 0 ? `fits, ${formatBytes(spare)} spare` : `short by ${formatBytes(-spare)}`;
  });
}

function change(before: number, after: number): string {
  if (before === after) return "0";
  return `${after > before ? "+" : "−"}${formatBytes(Math.abs(after - before))}`;
}
