import type { PythonFile } from "../../python/file.ts";
import { ancestors, contains, functionOf } from "../../python/nodes.ts";
import type { ImportFrom, Name, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";

/**
 * What a module defines besides functions and classes, with a comma between the names; undefined where nobody can tell: in a
 * package, whose modules are its names too, with `from x import *`, and where names are made while it runs.
 */
export function variablesOf(file: PythonFile): string | undefined {
  if (file.path.endsWith("__init__.py") || mayDefineMore(file)) return undefined;
  const { bindings } = file.scopes.scopeOf(file.tree.module);
  if (bindings.has("__getattr__") || bindings.has("__class__")) return undefined;
  const names: string[] = [];
  for (const [name, [first]] of bindings)
    if (first!.how !== "function" && first!.how !== "class") names.push(name);
  return names.join();
}

/** Whether names may be there that nobody sees: of a notebook, a broken file, `from x import *`, made while it runs. */
function mayDefineMore(file: PythonFile): boolean {
  return (
    !file.path.endsWith(".py") ||
    file.tree.errors.length > 0 ||
    file.all("Alias").some(({ name }) => name === "*") ||
    file.callsNamed("globals", "locals", "vars", "exec", "setattr").length > 0
  );
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

/** Python's own names, those of Python 2 among them: old scripts still run there. */
const BUILTINS = new Set(
  (
    "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright " +
    "credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help " +
    "hex id input int isinstance issubclass iter len license list locals map max memoryview min next object oct open ord pow " +
    "print property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip " +
    "xrange raw_input unicode long basestring reduce file cmp unichr execfile reload Ellipsis NotImplemented " +
    "BaseException BaseExceptionGroup Exception ExceptionGroup GeneratorExit KeyboardInterrupt StopAsyncIteration " +
    "StopIteration SystemExit"
  ).split(" "),
);

/** Whether Python, or what runs it, has the name without anybody's doing: `ValueError`, `__file__`. */
export const isGiven = (name: string): boolean =>
  BUILTINS.has(name) || name.startsWith("_") || /(?:Error|Warning|profile)$/.test(name);

/** Lines. What is shorter may be cut from something, or be written to show something: names are left open there. */
const SKETCH = 50;

/**
 * "steps" of a function that reads `steps`, in any case, where nothing defines it: what comes to it ends there. So does a whole file
 * that reads it at its top: `sys.path.append(…)` without an import.
 */
export function undefinedName(node: Node, { file }: Facts): string | null {
  const open = file.lines.count > SKETCH ? file.once(openNames) : [];
  // So is what leaves several open.
  if (new Set(open.map(({ id }) => id)).size !== 1) return null;
  const fn = functionOf(node);
  return (
    open.find((name) => {
      const of = functionOf(name);
      return (of === fn || of === null) && isReached(name, node);
    })?.id ?? null
  );
}

/** Names that are read, and that nothing in the file defines; none where something unseen may. */
function openNames(file: PythonFile): readonly Name[] {
  if (mayDefineMore(file)) return [];
  return file.all("Name").filter((name) => file.scopes.lookup(name) === null && !isGiven(name.id));
}

/** Whether a name is looked at wherever a node of its function runs, and not tried. */
function isReached(name: Name, node: Node): boolean {
  return ancestors(name).every(
    (at) =>
      at.kind !== "Try" &&
      (!MAY_SKIP.has(at.kind) || contains(at, node) || isAsked(at, name)) &&
      !(at.kind === "Assign" && at.annotation && contains(at.annotation, name)),
  );
}

/** `if steps % 10 == 0:` looks at it, whatever comes of it. */
function isAsked(at: Node, name: Name): boolean {
  return (at.kind === "If" || at.kind === "IfExp") && contains(at.test, name);
}

/** What stands in these may not be looked at, or be looked at when an error is expected. */
const MAY_SKIP: ReadonlySet<Node["kind"]> = new Set([
  "If",
  "IfExp",
  "Bool",
  "Match",
  "Lambda",
  "Comp",
  "Param",
  "AnnAssign",
  "ClassDef",
  "Delete",
]);
