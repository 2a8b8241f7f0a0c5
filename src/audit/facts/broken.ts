import type { PythonFile } from "../../python/file.ts";
import type { ImportFrom } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";

/**
 * What a module defines besides functions and classes, with a comma between the names; undefined where nobody can tell: in a
 * package, whose modules are its names too, with `from x import *`, and where names are made while it runs.
 */
export function variablesOf(file: PythonFile): string | undefined {
  if (file.tree.errors.length > 0 || !file.path.endsWith(".py") || file.path.endsWith("__init__.py"))
    return undefined;
  if (file.all("Alias").some(({ name }) => name === "*")) return undefined;
  if (file.callsNamed("globals", "locals", "vars", "exec", "setattr").length > 0) return undefined;
  const { bindings } = file.scopes.scopeOf(file.tree.module);
  if (bindings.has("__getattr__") || bindings.has("__class__")) return undefined;
  const names: string[] = [];
  for (const [name, [first]] of bindings)
    if (first!.how !== "function" && first!.how !== "class") names.push(name);
  return names.join();
}

/** "print_all" of `from utils import mean, print_all`, where the tree's `utils` has the one and not the other: it ends there. */
export function missingImport({ file, project }: Facts): string | null {
  for (const statement of file.tree.module.body) {
    if (statement.kind !== "ImportFrom" || statement.names.length < 2) continue;
    const module = moduleMeant(statement, file, project.variables);
    if (module === null) continue;
    const variables = `,${project.variables.get(module)!},`;
    const has = (name: string): boolean =>
      project.functions.has(`${module}.${name}`) ||
      project.roles.has(`${module}.${name}`) ||
      variables.includes(`,${name},`);
    const missing = statement.names.find(({ name }) => !has(name));
    // One that is there shows that no library of the same name is meant.
    if (missing && statement.names.some(({ name }) => has(name))) return missing.name;
  }
  return null;
}

/** The file behind `from utils import …`: beside this one, or counted from a folder above it. */
function moduleMeant(
  { names: [first] }: ImportFrom,
  file: PythonFile,
  known: ReadonlyMap<string, unknown>,
): string | null {
  const imported = file.importedName(first!);
  const module = imported.slice(0, imported.lastIndexOf("."));
  if (module === "") return null;
  for (let at = file.module; at.includes(".");) {
    at = at.slice(0, at.lastIndexOf("."));
    if (known.has(`${at}.${module}`)) return `${at}.${module}`;
  }
  return known.has(module) ? module : null;
}
