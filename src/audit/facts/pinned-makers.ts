import { isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { methodsOf } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { ENDLESS, goneThrough, isDataLoader, namesNoDevice, pinsBatches } from "./loaders.ts";
import { callsOf, returnsByName } from "./returns.ts";
import { isCapital } from "./torch-names.ts";

/** Functions of a file that hand out a loader whose batches are pinned, or one that another of them made. */
export function pinnedMakers(file: PythonFile): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>(ownLoaders(file));
  let made: readonly Call[] = file
    .callsNamed("DataLoader")
    .filter((call) => isDataLoader(file.dotted(call.func)) && pinsBatches(call, file));
  while (made.length > 0) {
    const makers = new Set<FunctionDef>();
    for (const call of made) {
      const fn = functionOf(call);
      if (fn?.kind === "FunctionDef" && !found.has(fn) && isHandedOut(call, file)) makers.add(fn);
    }
    for (const fn of makers) found.add(fn);
    made = [...makers].flatMap((fn) => [...callsOf(fn, file), ...callsByChoice(fn, file)]);
  }
  return found;
}

/** `super().__init__(data, pin_memory=True)`, in the constructor of a class that is made from torch's loader and sends nothing itself. */
function ownLoaders(file: PythonFile): readonly FunctionDef[] {
  if (!file.all("ClassDef").some((cls) => isMadeFromLoader(cls, file))) return [];
  return file.callsNamed("__init__").flatMap((call) => {
    const fn = functionOf(call);
    const cls = fn?.kind === "FunctionDef" && fn.name === "__init__" ? fn.parent : null;
    return cls?.kind === "ClassDef" &&
      isMadeFromLoader(cls, file) &&
      pinsBatches(call, file) &&
      // What it hands out by itself may be something else.
      !methodsOf(cls).some(({ name }) => /^__(?:iter|next)__$/.test(name)) &&
      namesNoDevice(cls, file)
      ? [fn as FunctionDef]
      : [];
  });
}

const isMadeFromLoader = ({ args }: ClassDef, file: PythonFile): boolean =>
  args.some(({ value }) => lastWord(value).endsWith("Loader") && isDataLoader(file.dotted(value)));

/** Whether a call makes a loader of pinned batches, by a function of the tree or by a class of it that is one. */
export function makesPinned(call: Call, facts: Facts): boolean {
  if (facts.callee(call)?.pins === true) return true;
  const { file, project } = facts;
  const name = file.dotted(call.func);
  if (name === null || !isCapital(lastWord(call.func))) return false;
  const asked = keyword(call, "pin_memory");
  if (asked && !isTrue(asked.value)) return false;
  // The name counts from some folder above the file.
  for (let above = `${file.module}.`; above !== "";) {
    above = above.slice(0, above.lastIndexOf(".", above.length - 2) + 1);
    const made = project.functions.get(`${above}${name}.__init__`);
    if (made) return made.pins;
  }
  return false;
}

/** `maker_for(kind)(args)`, where `def maker_for(kind)` returns this function by its name, or another one. */
function callsByChoice(fn: FunctionDef, file: PythonFile): readonly Call[] {
  const name = file.qualified(fn);
  return [...file.once(returnsByName)].flatMap(([chooser, returned]) => {
    if (!returned.some((one) => one.kind === "Name" && file.dotted(one) === name)) return [];
    const choosing = file.functionNamed(chooser);
    return (choosing ? callsOf(choosing, file) : []).flatMap((call) =>
      call.parent?.kind === "Call" && call.parent.func === call ? [call.parent] : [],
    );
  });
}

/** `return DataLoader(…)`, or by the name it gets, and by others that this gets, alone or as one of several. */
function isHandedOut(loader: Expr, file: PythonFile, depth = 0): boolean {
  const own = (depth > 0 ? endlessOf(loader, file) : null) ?? heldIn(loader) ?? loader;
  if (own.parent?.kind === "Return") return true;
  // `return train, test`; what stands in a call may come back as anything.
  if (depth > 0 && own.parent?.kind === "Tuple" && own.parent.parent?.kind === "Return") return true;
  // `return {"train": DataLoader(…)}`
  if (own.parent?.kind === "Dict")
    return (
      own.parent.parent?.kind === "Return" && isForTraining(own.parent.keys[own.parent.values.indexOf(own)])
    );
  const target = own.parent?.kind === "Assign" && own.parent.value === own ? own.parent.targets[0] : null;
  // `made["train"] = DataLoader(…)`, and `return made`
  if (target?.kind === "Subscript")
    return (
      target.value.kind === "Name" &&
      isForTraining(target.index) &&
      file.scopes
        .reaching(target.value)
        .some((one) => file.scopes.uses(one).some((use) => use.parent?.kind === "Return"))
    );
  const made = target?.kind === "Name" && depth < 3 ? file.scopes.definitionAt(target) : null;
  return made !== null && file.scopes.uses(made).some((use) => isHandedOut(use, file, depth + 1));
}

function isForTraining(key: Expr | null | undefined): boolean {
  return key?.kind === "Str" && !/val|test|eval|dev/i.test(key.value ?? "");
}

/** `Held(loader, sampler)`: an object that is made with it. */
function heldIn({ parent }: Node): Call | null {
  const call = parent?.kind === "Arg" && parent.star === 0 ? parent.parent : null;
  return call?.kind === "Call" && isCapital(lastWord(call.func)) ? call : null;
}

/** `sample_data(loader)`, of a generator of this file that hands on the batches, or of any that says so by its name. */
function endlessOf(loader: Expr, file: PythonFile): Call | null {
  const call = loader.parent?.kind === "Arg" ? loader.parent.parent : null;
  if (call?.kind !== "Call") return null;
  const generator = file.functionNamed(file.dotted(call.func));
  return ENDLESS.test(lastWord(call.func)) || (generator && goneThrough(generator, file) !== null)
    ? call
    : null;
}
