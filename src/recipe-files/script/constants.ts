import type { Located } from "../located.ts";
import { composeForMain } from "./hydra-main.ts";
import type { Survey } from "./survey.ts";

/** Module-level names, in lower case, with what they stand for; and the config that Hydra hands to main. */
export function constants({ program, evaluator }: Survey): ReadonlyMap<string, Located> {
  const table = new Map<string, Located>();
  for (const script of program.scripts().toReversed()) {
    for (const owner of script.file.all("FunctionDef")) {
      const config = composeForMain(owner, script, program);
      if (config) table.set("cfg", config);
    }
    for (const statement of script.file.tree.module.body) {
      if (statement.kind !== "Assign") continue;
      for (const target of statement.targets)
        if (target.kind === "Name") table.set(target.id.toLowerCase(), evaluator.of(statement.value, script));
    }
  }
  return table;
}
