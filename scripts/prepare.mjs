// npm runs this when the package is installed from its repository, as pre-commit does: there is no dist/ then.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { must, ROOT, script } from "./process.mjs";

await script(() => {
  // A global installation from git looks for what builds the package among the global packages (npm 11).
  if (!existsSync(join(ROOT, "node_modules/rolldown")))
    must("npm", [
      "install",
      "--global=false",
      "--no-save",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ]);
  must(process.execPath, ["scripts/build.mjs"]);
});
