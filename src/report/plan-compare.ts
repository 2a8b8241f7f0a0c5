import { formatBytes } from "../base/units.ts";
import { type Component, COMPONENTS } from "../plan/budget.ts";
import { paint } from "./paint.ts";
import type { Column } from "./plan-markdown.ts";

/** Two peaks side by side, component by component. */
export function compareText(
  before: Column & { readonly known?: readonly Component[] },
  after: Column,
  color: boolean,
  told: boolean,
): string {
  const ink = paint(color);
  const rows = [
    ...COMPONENTS.map((name) => [name, before.budget[name], after.budget[name]] as const).filter(
      ([name, a, b]) =>
        name !== "outside PyTorch" && (a > 0 || b > 0) && (before.known?.includes(name) ?? true),
    ),
    ["allocated", before.allocated, after.allocated] as const,
    ["reserved", before.reserved, after.reserved] as const,
  ];
  const lines = [
    `${ink("bold", "Compared")} with ${before.title}`,
    `  ${"".padEnd(18)} ${"there".padStart(9)} ${"here".padStart(9)} ${"change".padStart(10)}`,
  ];
  for (const [name, a, b] of rows) {
    const sign = b > a ? "+" : "";
    const share = a > 0 ? `  ${sign}${(((b - a) / a) * 100).toFixed(2)} %` : "";
    lines.push(
      `  ${name.padEnd(18)} ${formatBytes(a).padStart(9)} ${formatBytes(b).padStart(9)} ${`${sign}${formatBytes(b - a)}`.padStart(10)}${share}`,
    );
  }
  if (before.known) {
    lines.push(
      before.known.length > 0
        ? "  of the run, weights (with buffers), gradients and optimizer state were counted, behind an optimizer step; the rest only in sum"
        : "  of the run only the sums are known",
    );
  }
  if (!told) {
    lines.push(
      '  it was recorded without Python stacks, which tell components apart: record with stacks="python"',
    );
  }
  return `${lines.join("\n")}\n`;
}
