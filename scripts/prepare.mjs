// npm runs this when the package is installed from its repository, as pre-commit does: there is no dist/ then.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { must, ROOT, script } from "./process.mjs";

await script(() => {
  // A global installation from git leaves out what builds the package, though it says otherwise (npm 11).
  if (!existsSync(join(ROOT, "node_modules/rolldown")))
    must("npm", [
      "install",
      "--location=project",
      "--no-save",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
    ]);
  must(process.execPath, ["scripts/build.mjs"]);
});
