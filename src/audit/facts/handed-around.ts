import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, Expr, FunctionDef, Name } from "../../python/tree.ts";
import { callsOf, returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";

/** What a call of a function or a method of this file gives for a parameter. */
export function givenFor(param: string, fn: FunctionDef, call: Call): Expr | null {
  // A method is called without its first parameter.
  const shift = fn.parent?.kind === "ClassDef" && !isStatic(fn) ? 1 : 0;
  const at = fn.params.findIndex(({ name }) => name === param) - shift;
  return keyword(call, param)?.value ?? (at < 0 ? null : positional(call, at));
}

function isStatic({ decorators }: FunctionDef): boolean {
  return decorators.some((one) => one.kind === "Name" && one.id === "staticmethod");
}

/**
 * What an expression was made as, before functions of this file handed it around: of a parameter what each call gives, of a call
 * what the function returns at that place. A loop that carries it through a call, `batches, n = turn(batches, n)`, comes back to
 * what was asked before, which says nothing. Null where one of the ways cannot be seen.
 */
export function madeBefore(
  expr: Expr,
  file: PythonFile,
  asked: Set<Definition> = new Set<Definition>(),
): readonly Expr[] | null {
  if (expr.kind !== "Name") return [expr];
  const found: Expr[] = [];
  for (const one of file.scopes.reaching(expr)) {
    if (asked.has(one)) continue;
    asked.add(one);
    const values = valuesOf(one, file);
    if (values.length === 0) return null;
    for (const value of values) {
      const made = value && madeBefore(value, file, asked);
      if (!made) return null;
      for (const each of made) found.push(each);
    }
  }
  return found;
}

/** Where a name is bound; of a parameter, where the names are that every call in this file gives for it. Null where one gives none. */
export function boundBefore(name: Name, file: PythonFile, depth = 0): readonly Definition[] | null {
  const found: Definition[] = [];
  for (const one of file.scopes.reaching(name)) {
    const fn = one.how === "param" ? one.node.parent : null;
    if (fn?.kind !== "FunctionDef") {
      found.push(one);
      continue;
    }
    const calls = depth < 4 ? callsOf(fn, file) : [];
    if (calls.length === 0) return null;
    for (const call of calls) {
      const given = givenFor(one.name, fn, call);
      const bound = given?.kind === "Name" ? boundBefore(given, file, depth + 1) : null;
      if (!bound) return null;
      for (const each of bound) found.push(each);
    }
  }
  return found;
}

/** What stands where a name gets its value; null for what cannot be seen. */
function valuesOf(one: Definition, file: PythonFile): readonly (Expr | null)[] {
  const { how, node, name, value, index } = one;
  const fn = how === "param" ? node.parent : null;
  if (fn?.kind === "FunctionDef") return callsOf(fn, file).map((call) => givenFor(name, fn, call));
  if (!value || (how !== "assign" && how !== "unpack")) return [];
  const target = value.kind === "Call" ? callTarget(value, file) : null;
  const returned = target === null ? undefined : file.once(returnsByName).get(target);
  if (how === "assign") return returned ?? [value];
  return (returned ?? [value]).map((whole) =>
    index !== null && whole.kind === "Tuple" ? (whole.items[index] ?? null) : null,
  );
}
