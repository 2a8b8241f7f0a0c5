import { unpackedFrom } from "./inputs.ts";
import { keyword, positional, starModules } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Attribute, Call, ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { given } from "./arguments.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import { said } from "./options.ts";
import { returnsByName } from "./returns.ts";
import { callTarget, instanceType } from "./summary.ts";
import { isCapital, last } from "./torch-names.ts";
import { handedTo, hasWorkers, isDataLoader, namesNoDevice, noWorkers } from "./loaders.ts";

/** Classes that a DataLoader of this file with worker processes is given an instance of, and the calls that make these. */
export function sharedClasses(file: PythonFile): Map<string, Call[]> {
  const found = new Map<string, Call[]>();
  for (const data of givenToWorkers(file)) made(data, file, found, 0);
  return found;
}

/** Classes of what a Trainer of this file learns from, whose settings are unpacked from another file's: `TrainingArguments(**settings)`. */
export function trainedClasses(file: PythonFile): Map<string, Call[]> {
  const found = new Map<string, Call[]>();
  const trained = file.calls.given(["train_dataset"]);
  if (trained.length > 0 && isSetElsewhere(file) && !trainerHasWorkers(file))
    for (const call of trained) made(keyword(call, "train_dataset")!.value, file, found, 0);
  return found;
}

const SETTINGS = /(?:TrainingArguments|(?:SFT|DPO|GRPO|Reward|ORPO|KTO)Config)$/;

function isSetElsewhere(file: PythonFile): boolean {
  return (
    !file.mentions("dataloader_num_workers") &&
    file.calls.matching(SETTINGS).some(({ args }) => args.some(({ star }) => star === 2))
  );
}

/** Of what a loader is given to read. */
export function classesMade(data: Expr, file: PythonFile): ReadonlyMap<string, readonly Call[]> {
  const found = new Map<string, Call[]>();
  made(data, file, found, 0);
  return found;
}

/** What the loaders of this file with worker processes are given to read, and a Trainer whose loader is to have some. */
export function givenToWorkers(file: PythonFile): readonly Expr[] {
  const loaders = file
    .callsNamed("DataLoader")
    .filter((call) => isDataLoader(file.dotted(call.func)) && hasWorkers(call, file));
  const trained = file.calls.given(["train_dataset"]);
  return [
    ...loaders.map((call) => given(call, "dataset", file) ?? positional(call, 0)),
    ...(trained.length > 0 && trainerHasWorkers(file) ? trained : []).map(
      (call) => keyword(call, "train_dataset")!.value,
    ),
  ].filter((data) => data !== null);
}

/** `TrainingArguments(…, dataloader_num_workers=4)`, or `dataloader_num_workers: int = field(default=4)` of arguments of its own. */
function trainerHasWorkers(file: PythonFile): boolean {
  if (!file.mentions("dataloader_num_workers")) return false;
  const asked = file.calls.given(["dataloader_num_workers"]).some((call) => {
    const workers = keyword(call, "dataloader_num_workers")!.value;
    return workers.kind === "Num" ? !noWorkers(workers) : workers.kind === "Call";
  });
  return (
    asked ||
    // `{"dataloader_num_workers": 4}`, unpacked into them.
    Number(file.once(said).get("dataloader_num_workers") ?? 0) > 0 ||
    file.all("Assign").some(({ targets: [target], value, parent }) => {
      if (target?.kind !== "Name" || target.id !== "dataloader_num_workers" || parent?.kind !== "ClassDef")
        return false;
      const workers = value.kind === "Call" ? keyword(value, "default")?.value : value;
      return workers?.kind === "Num" && !noWorkers(workers);
    })
  );
}

/** What datasets of this file make in their constructors and keep: `self.pairs = Pairs(path)`, by the constructor. */
export function heldByDatasets(file: PythonFile): ReadonlyMap<FunctionDef, readonly string[]> {
  const found = new Map<FunctionDef, string[]>();
  for (const reads of file.all("FunctionDef")) {
    const cls = reads.name === "__getitem__" && reads.parent?.kind === "ClassDef" ? reads.parent : null;
    for (const { writes } of cls ? attributesOf(cls, file).values() : [])
      for (const { value, in: method } of writes) {
        const name =
          method.name === "__init__" && value?.kind === "Call" && /data|set$/i.test(lastWord(value.func))
            ? file.dotted(value.func)
            : null;
        if (name !== null && isCapital(last(name))) found.set(method, [...(found.get(method) ?? []), name]);
      }
  }
  return found;
}

/** The one at a position of what a function of this file returns; the call itself of any other. */
function itemsOf(call: Call, index: number, file: PythonFile): readonly Expr[] {
  const name = callTarget(call, file);
  const returned = name === null ? undefined : file.once(returnsByName).get(name);
  return returned?.flatMap((one) => (one.kind === "Tuple" ? (one.items[index] ?? []) : one)) ?? [call];
}

/** What is unpacked: of `train, valid = data` what the name was given, also by the calls here. */
function wholes(value: Expr, file: PythonFile): readonly Expr[] {
  if (value.kind !== "Name") return [value];
  return file.scopes
    .reaching(value)
    .flatMap((one) => (one.how === "param" ? handedTo(one, file) : [one.value]))
    .flatMap((one) => (one?.kind === "Name" ? file.scopes.onlyValue(one) : one) ?? []);
}

/** The classes an expression may be an instance of, through names, attributes, and what wraps a dataset. */
function made(expr: Expr | null, file: PythonFile, found: Map<string, Call[]>, depth: number): void {
  if (!expr || depth > 4) return;
  const again = (inner: Expr | null): void => made(inner, file, found, depth + 1);
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls)
    attributesOf(cls, file)
      .get(own!)
      ?.writes.forEach(({ value, target }) => again(value ?? unpackedFrom(target)));
  else if (expr.kind === "Name")
    for (const one of file.scopes.reaching(expr)) {
      // `def loader_of(dataset)`: what the calls here give it.
      if (one.how === "param") handedTo(one, file).forEach(again);
      else if (one.how === "unpack" && one.index !== null && one.value)
        for (const value of wholes(one.value, file))
          if (value.kind === "Call") itemsOf(value, one.index, file).forEach(again);
          else again(value.kind === "Tuple" ? (value.items[one.index] ?? null) : value);
      else again(one.value);
    }
  else if (expr.kind === "Subscript") again(expr.value);
  else if (expr.kind === "Call") {
    const name = file.dotted(expr.func);
    // `get_dataset(name)` of this file
    for (const one of name === null ? [] : (file.once(returnsByName).get(name) ?? [])) again(one);
    for (const one of name === null ? chosen(expr.func, file) : [name])
      found.set(one, [...(found.get(one) ?? []), expr]);
    // `random_split(Pairs(…), …)`, `Subset(…)`
    if (name?.startsWith("torch.utils.data.") === true) again(positional(expr, 0));
  }
}

/** The classes of `Data = CLASSES[name]` with `CLASSES = {"a": A, "b": B}`. */
function chosen(callee: Expr, file: PythonFile): readonly string[] {
  const picks = callee.kind === "Name" ? file.scopes.reaching(callee).map(({ value }) => value) : [callee];
  return picks.flatMap((pick) => {
    const table =
      pick?.kind === "Subscript" && pick.value.kind === "Name" ? file.scopes.onlyValue(pick.value) : null;
    const classes = table?.kind === "Dict" ? table.values : pick?.kind === "Name" ? [pick] : [];
    return classes.flatMap((one) => file.dotted(one) ?? []);
  });
}

const COLLATES = /collat/i;

/** Before the name of a function that what collates calls, and that is no such itself. */
export const HELPS = "~";

/** `def pad_collate(batch)` and `class PadCollate`, for the loaders of other files: by the name, as most are called so. */
export function hostCollates(file: PythonFile): readonly string[] | undefined {
  const found: string[] = [];
  // Arrays and strings cannot be pinned.
  const isIt = (one: FunctionDef | ClassDef): boolean =>
    COLLATES.test(one.name) &&
    /torch|tensor|default_collate/i.test(file.textOf(one)) &&
    namesNoDevice(one, file);
  for (const fn of file.all("FunctionDef"))
    if (isIt(fn)) found.push(file.qualified(fn));
    // `def scaled_in_collate(row)`, which is called here and has nothing to do with a device.
    else if (COLLATES.test(fn.name) && isOnlyCalled(fn, file) && namesNoDevice(fn, file))
      found.push(`${HELPS}${file.qualified(fn)}`);
  for (const cls of file.all("ClassDef"))
    if (isIt(cls) && isWithoutBase(cls, file)) found.push(file.qualified(cls));
  return found.length > 0 ? found : undefined;
}

/** Wherever the file reads its name, it is called. */
function isOnlyCalled(fn: FunctionDef, { scopes }: PythonFile): boolean {
  const made = scopes.definitionAt(fn);
  const uses = made ? scopes.uses(made) : [];
  return uses.length > 0 && uses.every((use) => use.parent?.kind === "Call" && use.parent.func === use);
}

/** `class Collate:`, `class Collate(object):` */
export function isWithoutBase({ args }: ClassDef, file: PythonFile): boolean {
  return args.every(({ value }) => file.dotted(value) === "builtins.object");
}

/** With a length and examples by number, and no base that says otherwise: what a loader can be given. */
export function isIndexed(cls: ClassDef, file: PythonFile): boolean {
  if (!isWithoutBase(cls, file)) return false;
  // `__getitem__ = get_example` too.
  const named = cls.body.flatMap((one) => (one.kind === "Assign" ? one.targets.map(lastWord) : []));
  const names = new Set([...methodsOf(cls).map(({ name }) => name), ...named]);
  return names.has("__getitem__") && names.has("__len__");
}

/** What a DataLoader and a Trainer call it. */
export const COLLATE_KEYWORDS = ["collate_fn", "data_collator"];

/** Functions that loaders of this file are to put batches together with, and those that are to make these, by all the names they may have. */
export function collatedWith(file: PythonFile): Map<string, Call> {
  const found = new Map<string, Call>();
  for (const call of file.calls.given(COLLATE_KEYWORDS))
    for (const word of COLLATE_KEYWORDS) {
      const given = keyword(call, word)?.value;
      const made = given?.kind === "Name" ? (file.scopes.onlyValue(given) ?? given) : given;
      if (!made) continue;
      const bound = made.kind === "Call" && file.dotted(made.func) === "functools.partial";
      const by = bound ? positional(made, 0) : made.kind === "Call" ? made.func : made;
      // `dataset.collate`, of a dataset that is made here
      const type = by?.kind === "Attribute" && by.value.kind === "Name" ? instanceType(by.value, file) : null;
      const name = type === null ? by && file.dotted(by) : `${type}.${(by as Attribute).attr}`;
      if (!name) continue;
      // `from utils import *`: any of these modules may have it.
      const names = name.startsWith("builtins.")
        ? file.once(starModules).map((module) => module + name.slice(name.indexOf(".")))
        : [name];
      for (const one of names)
        found.set(made.kind === "Call" && !bound && isCapital(last(one)) ? `${one}.__call__` : one, call);
    }
  return found;
}
