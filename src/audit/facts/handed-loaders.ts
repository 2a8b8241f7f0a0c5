import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isDataLoader, pinsBatches } from "./loaders.ts";
import type { Names } from "./names.ts";
import type { FileSummary, FunctionSummary } from "./summary.ts";
import { isCapital, last } from "./torch-names.ts";

const LOADER = /loader|(?:^|_)dl$/i;
const LIBRARY = /^(?:torch|numpy|builtins)\./;
const HELD_OUT = /val|test|eval|dev/i;
const PINNED = "pinned";
const UNSEEN = "?";

/**
 * Loaders that a file hands to functions of other files: by the function, the place or the name of the argument, and whether it pins
 * or what made it, "engine.train,1,pinned", "engine.train,1,data.get_loaders".
 */
export function handedLoaders(file: PythonFile): readonly string[] | undefined {
  if (!file.mentions("oader")) return undefined;
  const found = new Set<string>();
  const own = ownLoaders(file);
  for (const arg of file.all("Arg")) {
    const { value, parent: call } = arg;
    if (value.kind !== "Name" && value.kind !== "Attribute" && value.kind !== "Subscript") continue;
    if (arg.star !== 0 || call?.kind !== "Call") continue;
    if (!LOADER.test(lastWord(value)) && !(value.kind === "Name" && own.has(value.id))) continue;
    const target = file.dotted(call.func);
    if (target === null || LIBRARY.test(target) || target.startsWith(`${file.module}.`)) continue;
    if (!isCapital(last(target)))
      found.add(`${target},${arg.name ?? call.args.indexOf(arg)},${madeBy(value, file)}`);
  }
  return found.size > 0 ? [...found] : undefined;
}

/** `gen = DataLoader(…)`: also what is not called like one. */
function ownLoaders(file: PythonFile): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { func, parent } of file.callsNamed("DataLoader")) {
    const target = parent?.kind === "Assign" ? parent.targets[0] : null;
    if (target?.kind === "Name" && isDataLoader(file.dotted(func))) found.add(target.id);
  }
  return found;
}

/** What made a loader, behind the parts of what that handed out. */
function madeBy(loader: Expr, file: PythonFile, depth = 0): string {
  if (depth > 4) return UNSEEN;
  const again = (inner: Expr): string => madeBy(inner, file, depth + 1);
  if (loader.kind === "Attribute" || loader.kind === "Subscript") return again(loader.value);
  if (loader.kind === "Name") {
    const [one, ...more] = file.scopes.reaching(loader);
    // Made anew with another size of batch: what each of them is.
    if (one?.value?.kind === "Call" && isDataLoader(dottedOf(one.value, file)))
      return [one, ...more].every(({ value }) => value?.kind === "Call" && again(value) === PINNED)
        ? PINNED
        : UNSEEN;
    if (!one?.value || more.length > 0 || (one.how !== "assign" && one.how !== "unpack")) return UNSEEN;
    // Of several that a function makes, those to judge by may be made otherwise.
    return HELD_OUT.test(loader.id) ? UNSEEN : again(one.value);
  }
  const name = dottedOf(loader, file);
  if (loader.kind !== "Call" || name === null) return UNSEEN;
  if (isDataLoader(name)) return pinsBatches(loader, file) ? PINNED : UNSEEN;
  return LIBRARY.test(name) ? UNSEEN : name;
}

function dottedOf(expr: Expr, file: PythonFile): string | null {
  return expr.kind === "Call" ? file.dotted(expr.func) : null;
}

/** Parameters, "engine.train,loader", for which all other files that are seen to give one give a loader that pins. */
export function pinnedParams(
  summaries: readonly FileSummary[],
  names: Names,
  functions: ReadonlyMap<string, { readonly summary: FunctionSummary }>,
): ReadonlySet<string> {
  const pinned = new Set<string>();
  const others = new Set<string>();
  for (const { handsLoaders } of summaries)
    for (const one of handsLoaders ?? []) {
      const [target, place, made] = one.split(",") as [string, string, string];
      const fn = functions.get(names.resolve(target, functions) ?? "")?.summary;
      if (!fn) continue;
      const param = /^\d/.test(place) ? fn.params.split(",")[Number(place)] : place;
      const pins =
        made === PINNED || functions.get(names.resolve(made, functions) ?? "")?.summary.pins === true;
      (pins ? pinned : others).add(`${fn.name},${param}`);
    }
  for (const one of others) pinned.delete(one);
  return pinned;
}

/** What is gone through, or asked for the next batch, is a parameter that other files give loaders which pin. */
export function isPinnedParam(iterated: Expr, { file, project }: Facts): boolean {
  if (project.pinnedParams.size === 0) return false;
  let at: Expr | null = iterated;
  for (let turn = 0; at && turn < 6; turn++) {
    if (at.kind === "Call") at = positional(at, 0);
    else if (at.kind === "Name") {
      const [one, ...more]: readonly Definition[] = file.scopes.reaching(at);
      if (!one || more.length > 0) return false;
      const fn = one.how === "param" ? one.node.parent : null;
      if (fn?.kind === "FunctionDef") return project.pinnedParams.has(`${file.qualified(fn)},${one.name}`);
      at = one.how === "assign" ? one.value : null;
    } else return false;
  }
  return false;
}
