// npm run --silent bench:NAME -- ARGS: runs bench/NAME.ts; stdout is the bench's alone.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { bootstrapNode } from "./bootstrap.mjs";
import { ROOT, run, script, Stop } from "./process.mjs";

await script(() => {
  const [name = "", ...args] = process.argv.slice(2);
  if (!existsSync(join(ROOT, `bench/${name}.ts`))) throw new Stop(`there is no bench "${name}"`);
  bootstrapNode();
  return run(process.execPath, ["--expose-gc", "--import", "tsx", `bench/${name}.ts`, ...args]);
});
