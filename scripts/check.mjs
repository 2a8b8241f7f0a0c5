// npm run check: everything that is not a test. Runs all of it, then fails if any part failed.
import { bootstrapNode } from "./bootstrap.mjs";
import { run, say, script } from "./process.mjs";

/** @type {readonly (readonly [string, string, ...string[]])[]} */
const CHECKS = [
  ["types", "node_modules/typescript/bin/tsc"],
  ["types of the page", "node_modules/typescript/bin/tsc", "-p", "src/report/html/page"],
  ["lint", "node_modules/oxlint/bin/oxlint", "--deny-warnings"],
  ["format", "node_modules/oxfmt/bin/oxfmt", "--check"],
  ["layers", "scripts/layers.mjs"],
  ["dead code", "node_modules/knip/bin/knip.js"],
];

await script(() => {
  bootstrapNode();
  const failed = CHECKS.filter(([what, ...args]) => {
    say(`check: ${what}`);
    return run(process.execPath, args) !== 0;
  });
  for (const [what] of failed) say(`check failed: ${what}`);
  return failed.length > 0 ? 1 : 0;
});
