/**
 * npm run --silent bench:labels -- DIR
 *
 * Audits each repository in DIR (a folder "owner+name" each, checked out at the commit that the labels name) and
 * compares what is found with the labels in test/fixtures/audit: findings that were read by hand.
 * By severity: how many findings are labelled true, labelled false, and not labelled; then the false ones that are
 * still reported. The last line is the precision over the labelled errors and warnings.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { audit } from "../src/audit/audit.ts";
import type { ReportedFinding } from "../src/audit/report.ts";
import { DEFAULTS } from "../src/audit/settings.ts";
import { keyOf, readLabels } from "../test/support/audit-labels.ts";

const folder = process.argv[2];
if (folder === undefined || !existsSync(folder)) {
  console.error("usage: npm run --silent bench:labels -- DIR");
  process.exit(2);
}
const labels = new Map(readLabels().map((label) => [keyOf(label), label]));
const repositories = new Set([...labels.values()].map((label) => label.repository.replace("/", "+")));

const NONE = { true: 0, elsewhere: 0, broken: 0, false: 0, unlabelled: 0 };
const counts = new Map<string, typeof NONE>();
const wrong: string[] = [];
for (const name of readdirSync(folder).sort()) {
  if (!repositories.has(name)) continue;
  const root = join(folder, name);
  for (const finding of (await audit([root], root, DEFAULTS)).findings)
    count(name.replace("+", "/"), finding);
}

function count(repository: string, finding: ReportedFinding): void {
  const label = labels.get(keyOf({ repository, ...finding }));
  const one = counts.get(finding.severity) ?? { ...NONE };
  counts.set(finding.severity, one);
  // A false alarm that has become a note is judged as one: the labels of notes are about notes.
  const verdict =
    label && (label.severity === finding.severity || label.verdict === "true") ? label.verdict : null;
  one[verdict ?? "unlabelled"]++;
  if (label && verdict === "false" && finding.severity !== "note")
    wrong.push(`${repository} ${finding.path}:${finding.line} ${finding.rule}: ${label.why}`);
}

for (const severity of ["error", "warning", "note"]) {
  const one = counts.get(severity) ?? NONE;
  console.log(
    `${severity}: ${one.true} true, ${one.elsewhere} not in the training by default, ${one.broken} in what fails before, ${one.false} false, ${one.unlabelled} not labelled`,
  );
}
for (const line of wrong) console.log(`false: ${line}`);
const [right, elsewhere, broken, bad] = (["true", "elsewhere", "broken", "false"] as const).map((verdict) =>
  ["error", "warning"].reduce((sum, severity) => sum + (counts.get(severity)?.[verdict] ?? 0), 0),
) as [number, number, number, number];
const all = right + elsewhere + broken + bad;
console.log(
  `labelled ${all} | true ${right} | precision ${((100 * right) / all).toFixed(1)}% | false ${((100 * bad) / all).toFixed(1)}%`,
);
