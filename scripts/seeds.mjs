// npm run --silent seeds [-- NAME…]: bootstraps, then runs bench/seeds.ts; stdout is its table alone.
import { bootstrapTests } from "./bootstrap.mjs";
import { run, script } from "./process.mjs";

await script(() => {
  bootstrapTests();
  return run(process.execPath, ["--import", "tsx", "bench/seeds.ts", ...process.argv.slice(2)]);
});
