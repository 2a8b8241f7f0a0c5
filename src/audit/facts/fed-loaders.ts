import type { PythonFile } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { methodsOf } from "./classes.ts";
import type { Names } from "./names.ts";
import type { FileSummary, FunctionSummary } from "./summary.ts";
import { isCapital, last } from "./torch-names.ts";
import { givenToWorkers } from "./worker-data.ts";

/** By function, the parameters that worker processes of a loader read which it makes: `def loader_of(pairs): return DataLoader(pairs, num_workers=4)`. */
export function fedByParams(file: PythonFile): ReadonlyMap<FunctionDef, readonly string[]> {
  const found = new Map<FunctionDef, string[]>();
  for (const data of givenToWorkers(file)) {
    const [one, ...more] = data.kind === "Name" ? file.scopes.reaching(data) : [];
    const fn = one?.how === "param" && more.length === 0 ? one.node.parent : null;
    if (fn?.kind !== "FunctionDef" || fn.parent?.kind !== "Module") continue;
    const known = found.get(fn);
    if (known) known.push(one!.name);
    else found.set(fn, [one!.name]);
  }
  return found;
}

const CLASS = /^_*[A-Z]/;
const DATA = /data|set$|(?:^|_)ds$/i;
const LIBRARY = /^(?:torch|numpy|builtins)\./;

/**
 * Datasets that a file makes and hands to functions of other files, which may make loaders of them: by the function, the place or
 * the name of the argument, and the class, "parts.loader_of,1,data.Pairs".
 */
export function handedDatasets(file: PythonFile): readonly string[] | undefined {
  const found = new Set<string>();
  const own = new Set(file.all("ClassDef").flatMap((cls) => (isRead(cls) ? [cls.name] : [])));
  for (const made of file.calls.matching(CLASS)) {
    const name = namedAs(made);
    const word = lastWord(made.func);
    if (!own.has(word) && !DATA.test(word) && !(name && DATA.test(lastWord(name)))) continue;
    const cls = file.dotted(made.func);
    if (cls === null || LIBRARY.test(cls)) continue;
    const definition = name && file.scopes.definitionAt(name);
    for (const use of definition ? file.scopes.uses(definition) : [made]) {
      const arg = use.parent?.kind === "Arg" && use.parent.star === 0 ? use.parent : null;
      const call = arg?.parent?.kind === "Call" ? arg.parent : null;
      const target = call && file.dotted(call.func);
      if (!target || LIBRARY.test(target) || target.startsWith(`${file.module}.`) || isCapital(last(target)))
        continue;
      found.add(`${target},${arg!.name ?? call.args.indexOf(arg!)},${cls}`);
    }
  }
  return found.size > 0 ? [...found] : undefined;
}

/** One that hands out examples by number. */
function isRead(cls: ClassDef): boolean {
  return methodsOf(cls).some(({ name }) => name === "__getitem__");
}

/** What it is called: `pairs = Pairs(path)`, `pairs, held = Pairs(path), Pairs(other)`. */
function namedAs(made: Call): Expr | null {
  const several = made.parent?.kind === "Tuple" ? made.parent : null;
  const whole = several ?? made;
  const [target] =
    whole.parent?.kind === "Assign" && whole.parent.value === whole ? whole.parent.targets : [];
  const one = several
    ? target?.kind === "Tuple"
      ? target.items[several.items.indexOf(made)]
      : undefined
    : target;
  return one?.kind === "Name" ? one : null;
}

/** The constructors of datasets that functions of other files make loaders with workers of. */
export function fedDatasets(
  summaries: readonly FileSummary[],
  names: Names,
  functions: ReadonlyMap<string, { readonly summary: FunctionSummary }>,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { datasets } of summaries)
    for (const one of datasets ?? []) {
      const [target, place, cls] = one.split(",") as [string, string, string];
      const maker = functions.get(names.resolve(target, functions) ?? "")?.summary;
      if (!maker?.feeds) continue;
      const param = /^\d/.test(place) ? maker.params.split(",")[Number(place)] : place;
      const init = `${cls}.__init__`;
      if (param !== undefined && maker.feeds.includes(param))
        found.add(names.resolve(init, functions) ?? init);
    }
  return found;
}
