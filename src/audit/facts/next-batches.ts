import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Call, Expr } from "../../python/tree.ts";
import { madeBefore } from "./handed-around.ts";

/**
 * What hands out the batch of `next(batches)`; null for any other call. By older code it is `batches.next()`, of what `iter` began:
 * who else has such a method may hand out anything.
 */
export function nextOf({ args, func }: Call, file: PythonFile): Expr | null {
  if (file.dotted(func) === "builtins.next") return args[0] && args[0].name === null ? args[0].value : null;
  if (func.kind !== "Attribute" || !/^(?:__)?next(?:__)?$/.test(func.attr) || args.length > 0) return null;
  const { value } = func;
  if (value.kind === "Call") return isBegun(value, file) ? value : null;
  // Also where a function is handed it, and hands it back for the next turn.
  const made = (value.kind === "Name" ? madeBefore(value, file) : null) ?? [];
  return made.length > 0 && made.every((one) => isBegun(one, file)) ? value : null;
}

/** `iter(loader)` */
function isBegun(expr: Expr, file: PythonFile): boolean {
  return expr.kind === "Call" && file.dotted(expr.func) === "builtins.iter" && positional(expr, 0) !== null;
}
