/**
 * npm run --silent bench:label-places -- DIR…
 *
 * Writes into the labels of test/fixtures/audit where in a training their findings stood, as src/audit/trust.ts tells
 * places apart; "off" for what does not run as the code is shipped. Of the repositories that lie in a DIR, a folder
 * "owner+name" each, at the commit that the labels name. bench:trust goes by it.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { audit } from "../src/audit/audit.ts";
import { Facts } from "../src/audit/facts/facts.ts";
import type { ProjectFacts } from "../src/audit/facts/project.ts";
import { whyOnHost, whyUntold } from "../src/audit/facts/on-host.ts";
import { whyNot } from "../src/audit/facts/shipped.ts";
import { RULES } from "../src/audit/rules.ts";
import { DEFAULTS } from "../src/audit/settings.ts";
import { Layout } from "../src/audit/layout.ts";
import { readSource } from "../src/audit/source.ts";
import { whereIs } from "../src/audit/trust.ts";
import { walk } from "../src/python/nodes.ts";
import { decode } from "../src/python/source.ts";
import type { Node } from "../src/python/tree.ts";
import { type Label, readLabels, rewriteLabels } from "../test/support/audit-labels.ts";

const folders = process.argv.slice(2);
if (folders.length === 0 || !folders.every((folder) => existsSync(folder))) {
  console.error("usage: npm run --silent bench:label-places -- DIR…");
  process.exit(2);
}

const projects = new Map<string, { readonly root: string; readonly project: ProjectFacts }>();
for (const repository of new Set(readLabels().map((label) => label.repository))) {
  const root = folders.map((folder) => join(folder, repository.replace("/", "+"))).find(existsSync);
  if (root !== undefined)
    projects.set(repository, { root, project: (await audit([root], root, DEFAULTS)).project });
}

let placed = 0;
rewriteLabels((label) => {
  if (!label.heldOut || label.severity === "note" || label.cell !== undefined) return label;
  const where = placeOf(label);
  if (where === null) return label;
  placed++;
  return { ...label, where };
});
console.log(`${projects.size} repositories, ${placed} labels`);

function placeOf(label: Label): NonNullable<Label["where"]> | null {
  const known = projects.get(label.repository);
  const path = known && join(known.root, label.path);
  const decoded = path !== undefined && existsSync(path) ? decode(readFileSync(path)) : null;
  const source =
    decoded && typeof decoded !== "string" ? readSource(label.path, decoded.text, new Layout([])) : null;
  if (!known || source === null || typeof source === "string" || source.kind !== "python") return null;
  const facts = new Facts(source.file, known.project);
  const node = firstAt(label.line, facts);
  if (!node) return null;
  const onDevice = RULES.find(({ meta }) => meta.code === label.rule)?.meta.onDevice;
  const why = whyNot(node, facts) ?? whyOnHost(facts) ?? whyUntold(onDevice, facts);
  return why === null ? whereIs(node, facts) : "off";
}

/** The outermost node that begins in the line. */
function firstAt(line: number, { file }: Facts): Node | null {
  let found: Node | null = null;
  walk(file.tree.module, (node) => {
    const first = file.lines.line(node.start);
    if (first === line && node.kind !== "Module") found ??= node;
    return found === null && first <= line && file.lines.line(Math.max(node.start, node.end - 1)) >= line;
  });
  return found;
}
