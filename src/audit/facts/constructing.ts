import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf } from "../../python/nodes.ts";
import type { FunctionDef } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";

/** By their names methods that make what an object is of, or change it, and see no batch. */
const MAKES =
  /^_*(?:init|reset|load|set|build|register|update|prepare|setup|create|make|fuse|merge|construct|define|configure|resize|prune|add_|generate_layers)/;

/**
 * A method that makes what its object is of: by its name, or as the constructor calls it, itself or through others of its methods
 * (`self.construct(w_in, w_out)`). What it is handed are sizes and settings, and what it keeps are parts.
 */
export function isConstructing(fn: FunctionDef, file: PythonFile): boolean {
  return MAKES.test(fn.name) || (fn.name !== "forward" && file.once(calledInConstructors).has(fn));
}

function calledInConstructors(file: PythonFile): ReadonlySet<FunctionDef> {
  const calls = new Map<FunctionDef, string[]>();
  for (const call of file.all("Call")) {
    const own = selfAttribute(call.func);
    const by = own === null ? null : functionOf(call);
    if (own === null || by?.kind !== "FunctionDef") continue;
    const names = calls.get(by);
    if (names) names.push(own);
    else calls.set(by, [own]);
  }
  const found = new Set<FunctionDef>();
  const follow = (by: FunctionDef): void => {
    const cls = classOf(by);
    for (const name of cls ? (calls.get(by) ?? []) : [])
      for (const method of methodsOf(cls!))
        if (method.name === name && !found.has(method)) {
          found.add(method);
          follow(method);
        }
  };
  for (const fn of calls.keys()) if (fn.name === "__init__") follow(fn);
  return found;
}
