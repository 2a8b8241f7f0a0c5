/**
 * npm run --silent bench:audit-edit -- DIR [EDITS]
 *
 * Loads DIR as `audit --watch` and `plimsoll lsp` do, then changes files one after another, spread over the tree: how
 * long the changed file's findings take, and how long it takes until what that means for the others is known.
 */
import { existsSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { auditForEditing } from "../src/audit/audit.ts";
import { DEFAULTS } from "../src/audit/settings.ts";
import { Workspace } from "../src/audit/workspace.ts";

const [folder, edits = "50"] = process.argv.slice(2);
if (folder === undefined || !existsSync(folder)) {
  console.error("usage: npm run --silent bench:audit-edit -- DIR [EDITS]");
  process.exit(2);
}
const audit = await auditForEditing([folder], process.cwd(), DEFAULTS);
const workspace = new Workspace(audit, DEFAULTS);
const python = audit.found.filter(({ path, bytes }) => path.endsWith(".py") && bytes > 2000);
const count = Math.min(Number(edits), python.length);
const timed = (work: () => unknown): number => {
  const start = performance.now();
  work();
  return performance.now() - start;
};
const own: number[] = [];
const others: number[] = [];
for (let at = 0; at < count; at++) {
  const { path, absolute } = python[Math.floor((at * python.length) / count)]!;
  const text = readFileSync(absolute, "utf8");
  // A new function with a loop and a call: what a change of code says to the rest of the tree changes as well.
  const added = `\n\ndef added_${at}(items):\n    for item in items:\n        print(item.item())\n`;
  own.push(timed(() => workspace.update(path, text + added)));
  others.push(timed(() => workspace.settle()));
}
const line = (name: string, times: readonly number[]): void => {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): string => `${sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(0)} ms`;
  console.log(`${name}: median ${at(0.5)}, 95 % ${at(0.95)}, longest ${at(1)}`);
};
console.log(`${audit.files} files, ${count} edits, load ${loadavg()[0]!.toFixed(2)}`);
line("changed file", own);
line("facts of the tree", others);
