import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";

/** What the calls in this file of one of its own functions give for a parameter; of a method, as `self` calls it. */
export function handedIn(
  { how, node, name }: Definition,
  file: PythonFile,
  methods: boolean,
): readonly Expr[] {
  const fn = node.parent;
  if (how !== "param" || fn?.kind !== "FunctionDef") return [];
  const cls = methods && fn.parent?.kind === "ClassDef" ? fn.parent : null;
  // Also one that stands in another function, which is called there.
  if (!cls && fn.parent?.kind !== "Module" && fn.parent?.kind !== "FunctionDef") return [];
  const at = fn.params.findIndex((param) => param.name === name) - (cls ? 1 : 0);
  return file.callsNamed(fn.name).flatMap((call) => {
    const value = keyword(call, name)?.value ?? positional(call, at);
    const calls = cls
      ? selfAttribute(call.func) === fn.name && classOf(call) === cls
      : file.dotted(call.func) === file.qualified(fn);
    return value && calls ? [value] : [];
  });
}
