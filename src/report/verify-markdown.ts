import type { Verification } from "../verify/result.ts";
import { derivation, speedText, tableOf } from "./verify-words.ts";

/** `pictures`: file names beside the report; none when it is only printed. */
export function verifyMarkdown(
  result: Verification,
  pictures: { readonly loss: string; readonly memory: string } | null,
): string {
  const { before, after } = result.sides;
  const side = ({ source, commit, command }: typeof before): string =>
    `\`${source}\`${commit === null ? "" : ` (${commit.slice(0, 9)})`}: \`${command}\``;
  const lines = [
    "# Before and after",
    "",
    `- before: ${side(before)}`,
    `- after: ${side(after)}`,
    `- seed ${result.seed}, ${result.repeats} pairs of runs`,
    "",
    "| | before | after | change | verdict |",
    "|---|---:|---:|---:|---|",
    ...tableOf(result).map(
      (row) => `| ${row.what} | ${row.before} | ${row.after} | ${row.change} | ${row.verdict} |`,
    ),
    "",
  ];
  if (result.gates.length > 0) {
    lines.push(
      ...result.gates.map(
        (gate) =>
          `- ${gate.passed ? "✅" : "❌"} \`--${gate.name}${gate.limit ? ` ${gate.limit}` : ""}\`: ${escaped(gate.why)}`,
      ),
      "",
    );
  }
  if (pictures)
    lines.push(
      `![loss, step by step](${pictures.loss})`,
      "",
      `![memory, step by step](${pictures.memory})`,
      "",
    );
  const [verdict, ...how] = derivation(result);
  lines.push(
    "## How it was judged",
    "",
    `- results: ${verdict}`,
    ...how.map((line) => `  - ${line}`),
    `- speed: ${speedText(result.speed)}`,
  );
  for (const warning of result.warnings.new) lines.push(`- new warning: ${escaped(warning)}`);
  for (const warning of result.warnings.gone) lines.push(`- warning gone: ${escaped(warning)}`);
  for (const note of result.notes) lines.push(`- note: ${escaped(note)}`);
  return `${lines.join("\n")}\n`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\`*_<>|[\]]/g, String.raw`\$&`);
}
