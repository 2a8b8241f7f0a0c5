import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { isDataLoader } from "./loaders.ts";

/** Whether any of the loaders that a function hands out has workers. */
export type Loads = "workers" | "alone";

/** A function that hands out new DataLoaders each time it is asked, and where it makes them. */
export interface LoaderMaker {
  readonly fn: FunctionDef;
  readonly made: readonly Call[];
}

/** The functions and methods of a file that do nothing but make DataLoaders, by their qualified names. */
export function loaderMakers(file: PythonFile): ReadonlyMap<string, LoaderMaker> {
  const made = new Map<FunctionDef, Call[]>();
  for (const call of file.callsNamed("DataLoader")) {
    const fn = isDataLoader(file.dotted(call.func)) ? functionOf(call) : null;
    if (fn?.kind !== "FunctionDef") continue;
    const calls = made.get(fn);
    if (calls) calls.push(call);
    else made.set(fn, [call]);
  }
  return new Map(
    [...made].flatMap(([fn, calls]): [string, LoaderMaker][] =>
      isMaker(fn, calls, file) ? [[file.qualified(fn), { fn, made: calls }]] : [],
    ),
  );
}

/** What is kept for the next time, or whose data are drawn or set anew, is made for a reason. */
function isMaker(fn: FunctionDef, made: readonly Call[], file: PythonFile): boolean {
  return (
    !fn.decorators.some((one) => /cache|memoi[sz]e|once/i.test(file.textOf(one))) &&
    made.every((call) => isHandedOut(call, fn, file) && !isOfChangingData(call, file)) &&
    !DRAWS.test(file.codeOf(fn))
  );
}

const DRAWS = /\brandom\.(?!seed)|\brand(?:perm|int)\(|\.(?:choice|choices|sample|shuffle|permutation)\(/;

/** Returned as it is, by its name, or in a tuple, a list or a dict of several. */
function isHandedOut(call: Call, fn: FunctionDef, file: PythonFile): boolean {
  if (isReturned(call, fn)) return true;
  const statement = assignmentOf(call);
  const target = statement?.targets[0];
  if (target?.kind === "Name") return isNameReturned(target, fn, file);
  // `loaders[split] = DataLoader(…)`, then `return loaders`
  return (
    target?.kind === "Subscript" &&
    target.value.kind === "Name" &&
    file.scopes.reaching(target.value).some(({ node }) => contains(fn, node) && node.kind === "Name") &&
    file.scopes
      .reaching(target.value)
      .every(({ node }) => node.kind === "Name" && isNameReturned(node, fn, file))
  );
}

/** The assignment that a call is the value of, also through what wraps it: `accelerator.prepare(DataLoader(…))`. */
function assignmentOf(call: Call): Extract<Node, { kind: "Assign" }> | null {
  let at: Node = call;
  while (
    at.parent?.kind === "Arg" &&
    at.parent.parent?.kind === "Call" &&
    /^(?:prepare|setup_dataloaders|prepare_data_loader)$/.test(lastWord(at.parent.parent.func))
  )
    at = at.parent.parent;
  return at.parent?.kind === "Assign" && at.parent.value === at ? at.parent : null;
}

function isNameReturned(name: Expr, fn: FunctionDef, file: PythonFile): boolean {
  const definition = file.scopes.definitionAt(name);
  const uses = definition ? file.scopes.uses(definition) : [];
  return uses.some((use) => isReturned(use, fn)) && !uses.some(isKept);
}

/** `self.loader = loader`, for the next time. */
function isKept({ parent }: Expr): boolean {
  return parent?.kind === "Assign" && parent.targets.some(({ kind }) => kind !== "Name");
}

/** Part of what is returned, with nothing done to it. */
function isReturned(expr: Expr, fn: FunctionDef): boolean {
  for (const at of ancestors(expr)) {
    if (at.kind === "Return") return functionOf(at) === fn;
    if (at.kind !== "Tuple" && at.kind !== "List" && at.kind !== "Dict" && at.kind !== "Comp") return false;
  }
  return false;
}

/** `DataLoader(self.pool, …)`, where a method puts other data there as it goes: pseudo labels, or what was collected. */
function isOfChangingData(call: Call, file: PythonFile): boolean {
  const cls = classOf(call);
  return (
    cls !== null &&
    call.args.some(({ value }) => {
      const own = selfAttribute(value.kind === "Subscript" ? value.value : value);
      const writes = own === null ? [] : (attributesOf(cls, file).get(own)?.writes ?? []);
      return writes.some((write) => !BEGINS.test(write.in.name));
    })
  );
}

/** Methods that run once, before there is anything to train with. */
const BEGINS = /^(?:__init__|__post_init__|_*(?:setup|init|build|prepare|load)(?:_\w+)?)$/;
