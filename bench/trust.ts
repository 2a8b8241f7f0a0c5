/**
 * npm run --silent bench:trust
 *
 * Writes src/audit/readings.ts: by rule, and by where its findings stood, what share of its errors and warnings was true on
 * repositories that nobody had looked at before, from the labels in test/fixtures/audit (those that were read before
 * anything was mended for them). Prints by rule what was read, what trusting only the proven would have come to: each
 * repository's findings are kept or made notes by what the other repositories say of their rule there; and what is
 * still raised of all that was ever labelled.
 */
import { writeFileSync } from "node:fs";
import { isTrusted } from "../src/audit/trust.ts";
import type { Reading, Where } from "../src/audit/trust.ts";
import { readLabels, readings } from "../test/support/audit-labels.ts";

const blind = readLabels().filter((label) => label.heldOut && label.severity !== "note");
const all = readings(blind);
const written = ({ repositories, right, wrong }: Reading): string =>
  `repositories: ${repositories}, right: ${right}, wrong: ${wrong}`;
const lines = Object.entries(all).map(([code, { where, ...rule }]) => {
  const places = Object.entries(where).map(([at, one]) => `"${at}": { ${written(one)} }`);
  return `  ${code}: { ${written(rule)}, where: { ${places.join(", ")} } },\n`;
});
writeFileSync(
  "src/audit/readings.ts",
  `import type { RuleReading } from "./trust.ts";

/** Written by bench/trust.ts from the labels in test/fixtures/audit. */
// prettier-ignore
export const READINGS: Readonly<Record<string, RuleReading>> = {
${lines.join("")}};
`,
);
for (const [code, reading] of Object.entries(all)) {
  const read = blind.filter((label) => label.rule === code);
  const doubted = (Object.keys(reading.where) as Where[]).filter((where) => !isTrusted(reading, where));
  const notes = isTrusted(reading, null) ? doubted.join(", ") : "notes, but for what is proven";
  console.log(
    `${code}  ${read.filter(({ verdict }) => verdict === "true").length} of ${read.length} true, ${reading.repositories} repositories, ${(100 * reading.right).toFixed(0)} % each counted once${notes && `  notes: ${notes}`}`,
  );
}

const others = new Map(
  [...new Set(blind.map(({ repository }) => repository))].map((repository) => [
    repository,
    readings(blind.filter((label) => label.repository !== repository)),
  ]),
);
const kept = blind.filter(
  ({ repository, rule, where }) => where !== "off" && isTrusted(others.get(repository)![rule], where ?? null),
);
const share = (labels: typeof blind): string => {
  const percent = (count: number): string => `${((100 * count) / labels.length).toFixed(1)} %`;
  const right = labels.filter(({ verdict }) => verdict === "true").length;
  const wrong = labels.filter(({ verdict }) => verdict === "false").length;
  return `${right} of ${labels.length} (${percent(right)}; ${wrong} false, ${percent(wrong)})`;
};
const raised = readLabels().filter(
  ({ severity, mended, where = null, rule }) =>
    severity !== "note" && !mended && where !== "off" && isTrusted(all[rule], where),
);
console.log(
  `as they were: ${share(blind)} | of what the other repositories trust: ${share(kept)} | raised today: ${share(raised)}`,
);
