import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import { callTarget } from "./summary.ts";

/** The calls in this file, not its own, of one of its functions or methods. */
export function callsOf(fn: FunctionDef, file: PythonFile): readonly Call[] {
  const name = file.qualified(fn);
  return file.callsNamed(fn.name).filter((site) => !contains(fn, site) && callTarget(site, file) === name);
}

/** By the qualified names of generators, what they yield; without those that hand on another's. */
export function yieldsByName(file: PythonFile): ReadonlyMap<string, readonly Expr[]> {
  const found = new Map<string, Expr[]>();
  const unknown = new Set<string>();
  for (const one of file.all("Yield")) {
    const fn = functionOf(one);
    if (fn?.kind !== "FunctionDef") continue;
    const name = file.qualified(fn);
    const list = found.get(name);
    if (!one.value || one.from) unknown.add(name);
    else if (list) list.push(one.value);
    else found.set(name, [one.value]);
  }
  for (const name of unknown) found.delete(name);
  return found;
}

/** By the qualified names of functions, what they return; without those that yield, or return nothing somewhere. */
export function returnsByName(file: PythonFile): ReadonlyMap<string, readonly Expr[]> {
  const found = new Map<string, Expr[]>();
  const unknown = new Set(file.all("Yield").map((one) => functionOf(one)));
  for (const statement of file.all("Return")) {
    const fn = functionOf(statement);
    if (fn?.kind !== "FunctionDef") continue;
    if (!statement.value) unknown.add(fn);
    if (!statement.value || unknown.has(fn)) continue;
    const name = file.qualified(fn);
    const list = found.get(name);
    if (list) list.push(statement.value);
    else found.set(name, [statement.value]);
  }
  for (const fn of unknown) if (fn?.kind === "FunctionDef") found.delete(file.qualified(fn));
  return found;
}
