// npm test: bootstraps, then runs vitest with the arguments given.
import { bootstrapTests } from "./bootstrap.mjs";
import { run, script } from "./process.mjs";

await script(() => {
  bootstrapTests();
  return run(process.execPath, ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)]);
});
