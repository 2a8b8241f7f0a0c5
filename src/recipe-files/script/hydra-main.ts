import type { NodeOf } from "../../python/tree.ts";
import { keyword } from "../../python/file.ts";
import { composeHydra } from "../hydra.ts";
import type { Located } from "../located.ts";
import { folderOf, joinPath } from "../paths.ts";
import type { Program, Script } from "./program.ts";

/** The config that @hydra.main(config_path=…, config_name=…) hands to the function below it. */
export function composeForMain(
  owner: NodeOf<"FunctionDef">,
  script: Script,
  program: Program,
): Located | null {
  for (const decorator of owner.decorators) {
    if (decorator.kind !== "Call" || script.file.dotted(decorator.func) !== "hydra.main") continue;
    const text = (name: string): string => {
      const value = keyword(decorator, name)?.value;
      return value?.kind === "Str" ? (value.value ?? "") : "";
    };
    const file = text("config_name");
    if (file === "") return null;
    const path = `${text("config_path") || "."}/${/\.ya?ml$/.test(file) ? file : `${file}.yaml`}`;
    const name = joinPath(folderOf(script.name), path);
    const content = program.beside(name);
    return content === null ? null : composeHydra({ name, text: content }, program.beside);
  }
  return null;
}
