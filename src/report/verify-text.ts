import type { Verification } from "../verify/result.ts";
import { paint } from "./paint.ts";
import { derivation, speedText, tableOf } from "./verify-words.ts";

export function verifyText(result: Verification, color: boolean): string {
  const p = paint(color);
  const { before, after } = result.sides;
  const side = ({ source, commit }: typeof before): string =>
    commit === null || commit.startsWith(source) ? source : `${source} (${commit.slice(0, 9)})`;
  const lines = [
    `${p("bold", "before")}  ${side(before)}: ${before.command}`,
    `${p("bold", "after")}   ${side(after)}: ${after.command}`,
    "",
  ];
  const rows = tableOf(result);
  const cells = [
    ["", "before", "after", "change", ""],
    ...rows.map((row) => [row.what, row.before, row.after, row.change, row.verdict]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  for (const [at, row] of cells.entries()) {
    const good = at === 0 ? null : rows[at - 1]!.good;
    const padded = row.map((cell, column) =>
      column === 0 || column === 4 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    );
    const verdict = padded.pop()!.trimEnd();
    const painted = good === null ? verdict : p(good ? "green" : "red", verdict);
    lines.push(`${padded.join("  ")}  ${painted}`.trimEnd());
  }
  const [verdict, ...how] = derivation(result);
  lines.push(
    "",
    `results: ${verdict}`,
    ...how.map((line) => `  ${line}`),
    `speed: ${speedText(result.speed)}`,
  );
  for (const warning of result.warnings.new) lines.push(`${p("red", "new warning")}: ${warning}`);
  for (const warning of result.warnings.gone) lines.push(`${p("green", "gone")}: ${warning}`);
  for (const note of result.notes) lines.push(`${p("yellow", "note")}: ${note}`);
  if (result.gates.length > 0) lines.push("");
  for (const gate of result.gates)
    lines.push(
      `${gate.passed ? p("green", "pass") : p("red", "FAIL")}  --${gate.name}${gate.limit ? ` ${gate.limit}` : ""}: ${gate.why}`,
    );
  return `${lines.join("\n")}\n`;
}
