import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";

/** Whether `.to(…)` or `.cuda(…)` says, or may say, that the host need not wait. */
export function mayOverlap(call: Call): boolean {
  const flag = overlapFlag(call);
  return flag !== null && !(flag.kind === "Const" && flag.value === false);
}

/** What stands for `non_blocking`. */
export function overlapFlag(call: Call): Expr | null {
  const at = call.func.kind === "Attribute" && call.func.attr === "to" ? 2 : 1;
  return keyword(call, "non_blocking")?.value ?? positional(call, at);
}

/** Functions that send one of their parameters, or its parts, to a device and wait for it. */
export function waitingCopies(file: PythonFile): ReadonlyMap<FunctionDef, ReadonlySet<string>> {
  const found = new Map<FunctionDef, Set<string>>();
  for (const call of file.callsNamed("to", "cuda")) {
    const fn = functionOf(call);
    // What runs a network is given what has been moved.
    if (fn?.kind !== "FunctionDef" || fn.name === "forward" || fn.params.length === 0) continue;
    if (call.func.kind !== "Attribute" || mayOverlap(call) || !namesDevice(call, file)) continue;
    const param = paramBehind(call.func.value, fn, file);
    if (param === null) continue;
    const params = found.get(fn);
    if (params) params.add(param);
    else found.set(fn, new Set([param]));
  }
  return found;
}

function namesDevice(call: Call, file: PythonFile): boolean {
  if (call.func.kind === "Attribute" && call.func.attr === "cuda") return true;
  const device = keyword(call, "device")?.value ?? positional(call, 0);
  return device !== null && /device|cuda|gpu|\bdev\b/i.test(file.textOf(device).slice(0, 60));
}

/** The parameter that a moved expression is, or is a part of. */
export function paramBehind(expr: Expr, fn: FunctionDef, file: PythonFile, depth = 0): string | null {
  if (depth > 4) return null;
  if (expr.kind === "Subscript" || expr.kind === "Attribute")
    return paramBehind(expr.value, fn, file, depth + 1);
  if (expr.kind !== "Name") return null;
  const [one, ...more] = file.scopes.reaching(expr);
  if (!one || more.length > 0) return null;
  if (one.how === "param") return contains(fn, one.node) ? one.name : null;
  if ((one.how !== "iterate" && one.how !== "unpack" && one.how !== "assign") || !one.value) return null;
  return paramBehind(underItems(one.value), fn, file, depth + 1);
}

/** `batch` of `batch.items()`. */
function underItems(expr: Expr): Expr {
  return expr.kind === "Call" && expr.func.kind === "Attribute" && /^(?:items|values)$/.test(expr.func.attr)
    ? expr.func.value
    : expr;
}
