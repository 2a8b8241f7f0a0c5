/**
 * npm run --silent bench:trust
 *
 * Writes src/audit/readings.ts: by rule, what share of its errors and warnings was true on repositories that nobody had
 * looked at before, from the labels in test/fixtures/audit (those that were read before anything was mended for them).
 * Prints by rule what was read, and what trusting only the proven rules would have come to: each repository's findings
 * are kept or made notes by what the other repositories say of their rule.
 */
import { writeFileSync } from "node:fs";
import { isTrusted } from "../src/audit/trust.ts";
import { readLabels, readings } from "../test/support/audit-labels.ts";

const blind = readLabels().filter((label) => label.heldOut && label.severity !== "note");
const all = readings(blind);
const lines = Object.entries(all).map(
  ([code, { repositories, right }]) => `  ${code}: { repositories: ${repositories}, right: ${right} },\n`,
);
writeFileSync(
  "src/audit/readings.ts",
  `import type { Reading } from "./trust.ts";

/** Written by bench/trust.ts from the labels in test/fixtures/audit. */
export const READINGS: Readonly<Record<string, Reading>> = {
${lines.join("")}};
`,
);
for (const [code, reading] of Object.entries(all)) {
  const read = blind.filter((label) => label.rule === code);
  const held = isTrusted(reading) ? "" : "  notes";
  console.log(
    `${code}  ${read.filter(({ verdict }) => verdict === "true").length} of ${read.length} true, ${reading.repositories} repositories, ${(100 * reading.right).toFixed(0)} % each counted once${held}`,
  );
}

const kept = blind.filter((label) => {
  const others = readings(blind.filter((other) => other.repository !== label.repository));
  return isTrusted(others[label.rule]);
});
const share = (labels: typeof blind): string => {
  const right = labels.filter(({ verdict }) => verdict === "true").length;
  return `${right} of ${labels.length} (${((100 * right) / labels.length).toFixed(1)} %)`;
};
console.log(`as they were: ${share(blind)} | of rules that the other repositories trust: ${share(kept)}`);
