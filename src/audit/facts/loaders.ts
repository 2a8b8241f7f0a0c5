import { isNone, isTrue, keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Call, Expr, FunctionDef, Name, Node, Stmt } from "../../python/tree.ts";
import { entry, given } from "./arguments.ts";
import { attributesOf, isSelf, selfAttribute } from "./classes.ts";
import { isDict, putInto, underKey } from "./dict-entries.ts";
import type { Facts } from "./facts.ts";
import { handedIn } from "./handed-in.ts";
import { nextOf } from "./next-batches.ts";
import { callsOf, returnsByName } from "./returns.ts";
import { holdsOptions, said } from "./options.ts";
import { callTarget, instanceType } from "./summary.ts";

/** Torch's own, and those that hand all their settings on to it: MONAI's, and of graphs. */
export function isDataLoader(dotted: string | null): boolean {
  return /^(?:(?:torch\.utils|monai)\.data|torch_geometric\.(?:loader|data))\.(?:dataloader\.)?DataLoader$/.test(
    dotted ?? "",
  );
}

/** Whether a call of a function of another file makes a loader of the kind that is looked for. */
type IsMaker = (call: Call) => boolean;

const NO_MAKER: IsMaker = () => false;

export const ENDLESS = /^_?(?:cycle|(?:infinite|endless|inf|forever|repeat)(?:_\w+)?|InfiniteDataLoader)$/;

/** The DataLoader calls of this file that an iterated expression may come from; null when one of its sources cannot be seen. */
export function loadersOf(
  expr: Expr,
  facts: Facts,
  depth = 0,
  isMaker: IsMaker = NO_MAKER,
): readonly Call[] | null {
  if (depth > 8) return null;
  const again = (inner: Expr | null): readonly Call[] | null =>
    inner === null ? null : loadersOf(inner, facts, depth + 1, isMaker);
  const { file } = facts;
  const own = selfAttribute(expr);
  if (own !== null) {
    const cls = classOf(expr);
    const writes = (cls ? attributesOf(cls, file).get(own)?.writes : undefined) ?? [];
    return all(
      writes.flatMap(({ value, target }) =>
        isNone(value) ? [] : [value ? again(value) : oneOf(target, facts, depth, isMaker)],
      ),
    );
  }
  if (expr.kind === "Name")
    return all(
      reachingOnce(expr, file).map((one) => {
        if (one.how === "param") return passed(one.name, expr, facts, depth, isMaker);
        if (one.how === "unpack" && one.value?.kind === "Call" && one.index !== null)
          return returned(one.value, one.index, facts, depth, isMaker);
        // `train_loader, eval_loader = loaders`
        if (one.how === "unpack" && one.value && one.index !== null)
          return all(itemsAt(one.value, one.index, file).map((item) => again(item)));
        // `for name, loader in loaders.items():`
        if (one.how === "iterate")
          return one.value && all(heldIn(one.value, file).map((held) => again(held)));
        // `with tqdm(loader) as bar:`
        return one.how === "assign" || one.how === "with" ? again(one.value) : null;
      }),
    );
  // `loaders = {"train": DataLoader(…), "val": DataLoader(…)}`
  if (expr.kind === "Subscript" && expr.index.kind === "Str") {
    const made = expr.value.kind === "Name" ? file.scopes.onlyValue(expr.value) : null;
    const one = made?.kind === "Dict" && expr.index.value !== null ? entry(made, expr.index.value) : null;
    // `loaders = {}`, and `loaders["train"] = DataLoader(…)` below.
    const put = expr.index.value !== null && isDict(made, file) ? putInto(expr, expr.index.value, file) : [];
    if (put.length > 0) return all([...(one ? [one] : []), ...put].map((held) => again(held)));
    if (made?.kind === "Dict" || expr.index.value === null) return one && again(one);
    if (made === null) return all(underKey(expr.index.value, file).map((held) => again(held)));
  }
  // `loaders[0]`, of those that every call hands in.
  if (expr.kind === "Subscript" && expr.index.kind === "Num" && isParameter(expr.value, file))
    return all(itemsAt(expr.value, Number(expr.index.text), file).map((item) => again(item)));
  // `loaders = {name: DataLoader(…) for name in names}`
  if (expr.kind === "Subscript") return all(heldIn(expr.value, file).map((held) => again(held)));
  // `get_data(args)["train"].dataloader`, of what a function of another file hands out with its loaders.
  if (expr.kind === "Attribute" && /load|_dl$/i.test(expr.attr)) {
    const maker = madeBehind(expr.value, file);
    if (maker && isMaker(maker)) return [maker];
  }
  // `data.train_loader`, a property of a class of this file.
  if (expr.kind === "Attribute") return all(propertyOf(expr, file).map((one) => again(one)));
  // `tqdm(loader) if rank == 0 else loader`, and of `loader if data else None` what can be gone through.
  if (expr.kind === "IfExp")
    return all([expr.body, expr.orelse].flatMap((one) => (isNone(one) ? [] : [again(one)])));
  if (expr.kind !== "Call") return null;
  const name = file.dotted(expr.func);
  // Those of graphs and of WebDataset take the same settings, and pin what they hand out.
  if (
    isDataLoader(name) ||
    /^torch_geometric\.(?:data|loader)\.DataLoader$|^webdataset\.WebLoader$/.test(name ?? "")
  )
    return [expr];
  if (isDerived(expr, file)) return [expr];
  if (
    name === "builtins.enumerate" ||
    name === "builtins.iter" ||
    name === "itertools.islice" ||
    /(?:^|\.)(?:tqdm|progress_bar)(?:\.|$)/.test(name ?? "")
  )
    return again(positional(expr, 0));
  // `cycle(loader)`, of whatever file: it hands out the same batches without end.
  if (ENDLESS.test(lastWord(expr.func)) && expr.args.length > 0) return again(positional(expr, 0));
  // `metric_logger.log_every(loader, 10)` of torchvision's references, which many copy.
  if (lastWord(expr.func) === "log_every") return again(positional(expr, 0));
  if (name === "builtins.zip")
    return all(expr.args.filter(({ value }) => !isCount(value, file)).map(({ value }) => again(value)));
  return returned(expr, null, facts, depth, isMaker);
}

/**
 * `EndlessDataLoader(data, pin_memory=True)`, of this file or of another: made from torch's own, since nothing else is asked to pin. One
 * that sends its batches itself hands out none that are pinned.
 */
function isDerived(call: Call, file: PythonFile): boolean {
  const word = lastWord(call.func);
  if (!/^(?:[A-Z]\w*)?DataLoader/.test(word) || /cuda|gpu|device|prefetch/i.test(word)) return false;
  if (!keyword(call, "pin_memory")) return false;
  const name = file.dotted(call.func);
  return file.all("ClassDef").every((cls) => file.qualified(cls) !== name || namesNoDevice(cls, file));
}

/** `range(n)`, `itertools.count()`, a bar over one: beside a loader in a `zip` it hands out the number of the turn. */
function isCount(expr: Expr, file: PythonFile): boolean {
  const made = (expr.kind === "Name" ? madeAs(expr, file) : null) ?? expr;
  if (made.kind !== "Call") return false;
  const name = file.dotted(made.func) ?? "";
  if (/^(?:builtins\.range|itertools\.count)$|(?:^|\.)trange$/.test(name)) return true;
  const over = /(?:^|\.)tqdm(?:\.|$)/.test(name) ? positional(made, 0) : null;
  return over !== null && isCount(over, file);
}

/** Of `loader = tqdm(loader)` in a loop, the inner name's own statement tells nothing of where it came from; and nothing goes through None. */
function reachingOnce(name: Name, file: PythonFile): readonly Definition[] {
  return file.scopes
    .reaching(name)
    .filter(({ how, value }) => !value || !(contains(value, name) || (how === "assign" && isNone(value))));
}

/** The call behind `made`, or behind a part of it: `made["train"]`. */
function madeBehind(expr: Expr, { scopes }: PythonFile): Call | null {
  const whole = expr.kind === "Subscript" && expr.index.kind === "Str" ? expr.value : expr;
  const made = whole.kind === "Name" ? scopes.onlyValue(whole) : whole;
  return made?.kind === "Call" ? made : null;
}

/** What a property of an instance returns, where the class stands in this file. */
function propertyOf({ value, attr }: Attribute, file: PythonFile): readonly Expr[] {
  const type = instanceType(value, file);
  const fn = type === null ? undefined : file.functionNamed(`${type}.${attr}`);
  const isProperty = fn?.decorators.some((one) => /^(?:cached_)?property$/.test(lastWord(one))) === true;
  return (isProperty ? file.once(returnsByName).get(`${type}.${attr}`) : undefined) ?? [];
}

function isParameter(expr: Expr, file: PythonFile): boolean {
  return expr.kind === "Name" && file.scopes.reaching(expr).some(({ how }) => how === "param");
}

/** What stands at a place of a list or tuple, of a name each that may reach it: of a parameter, of what every call hands in; null where one cannot be seen. */
function itemsAt(list: Expr, index: number, file: PythonFile, depth = 0): readonly (Expr | null)[] {
  if (list.kind === "List" || list.kind === "Tuple")
    return [list.items.some(({ kind }) => kind === "Starred") ? null : (list.items[index] ?? null)];
  if (list.kind !== "Name" || depth > 4) return [null];
  return file.scopes.reaching(list).flatMap((one) => {
    const values =
      one.how === "assign"
        ? [one.value]
        : [...handedIn(one, file, true), ...madeWith(one.name, one.node.parent, file)];
    return values.length === 0
      ? [null]
      : values.flatMap((value) => (value ? itemsAt(value, index, file, depth + 1) : [null]));
  });
}

/** What the instances made in this file of a class are given for a parameter of its `__init__`; null where that cannot be seen. */
function madeWith(param: string, init: Node | null, file: PythonFile): readonly (Expr | null)[] {
  const isInit = init?.kind === "FunctionDef" && init.name === "__init__";
  if (!isInit || init.parent?.kind !== "ClassDef") return [];
  const cls = init.parent;
  const at = init.params.findIndex(({ name }) => name === param) - 1;
  return file
    .callsNamed(cls.name)
    .filter((call) => file.dotted(call.func) === file.qualified(cls))
    .map((call) => keyword(call, param)?.value ?? positional(call, at));
}

/** What a list or dict of this file holds, as it is written down, of what is iterated: `loaders`, `loaders.values()`. */
function heldIn(expr: Expr, file: PythonFile): readonly Expr[] {
  const of =
    expr.kind === "Call" && expr.func.kind === "Attribute" && /^(?:items|values)$/.test(expr.func.attr)
      ? expr.func.value
      : expr;
  const made = of.kind === "Name" ? file.scopes.onlyValue(of) : of;
  if (made?.kind === "List" || made?.kind === "Tuple") return made.items;
  if (made?.kind === "Dict") return made.values;
  return made?.kind === "Comp" ? [made.value ?? made.element] : [];
}

/** `self.train, self.valid = build_loaders(config)`, or `= loaders`. */
function oneOf(target: Expr, facts: Facts, depth: number, isMaker: IsMaker): readonly Call[] | null {
  const tuple = target.parent;
  const statement = tuple?.kind === "Tuple" ? tuple.parent : null;
  if (tuple?.kind !== "Tuple" || statement?.kind !== "Assign") return null;
  const [from, index] = [statement.value, tuple.items.indexOf(target)];
  if (from.kind === "Call") return returned(from, index, facts, depth, isMaker);
  return all(
    itemsAt(from, index, facts.file).map((item) => item && loadersOf(item, facts, depth + 1, isMaker)),
  );
}

function all(sources: readonly (readonly Call[] | null)[]): readonly Call[] | null {
  return sources.length > 0 && sources.every((one) => one !== null) ? sources.flat() : null;
}

/** What a function of this file returns, or one item of the tuple it returns. */
function returned(
  call: Call,
  index: number | null,
  facts: Facts,
  depth: number,
  isMaker: IsMaker,
): readonly Call[] | null {
  if (isMaker(call)) return [call];
  const own = selfAttribute(call.func);
  const cls = own === null ? null : classOf(call);
  const name = cls ? `${facts.file.qualified(cls)}.${own}` : facts.file.dotted(call.func);
  const fn = facts.file.functionNamed(name) ?? iterates(name, facts.file);
  if (!fn) return null;
  const through = index === null ? goneThrough(fn, facts.file) : null;
  if (through) return all(through.map((one) => loadersOf(one, facts, depth + 1, isMaker)));
  return all(
    facts.file
      .all("Return")
      .filter((statement) => functionOf(statement) === fn && isReached(statement, fn, call))
      .map(({ value }) => {
        const item =
          index === null
            ? value
            : value?.kind === "Tuple" || value?.kind === "List"
              ? (value.items[index] ?? null)
              : null;
        return item ? loadersOf(item, facts, depth + 1, isMaker) : null;
      }),
  );
}

/** The method by which instances of a class of this file, `FirstBatches(loader, 100)`, hand out what a loop gets of them. */
function iterates(name: string | null, file: PythonFile): FunctionDef | undefined {
  const begins = name === null ? undefined : file.functionNamed(`${name}.__iter__`);
  const returned = begins ? file.once(returnsByName).get(`${name}.__iter__`) : undefined;
  return returned?.every(isSelf) === true ? file.functionNamed(`${name}.__next__`) : begins;
}

/**
 * What a generator or a `__next__` takes its batches from, where it hands them on as they are: `loader` of
 * `for batch in loader: yield batch`, `self.batches` of `return next(self.batches)`. Null where it may change or move them.
 */
export function goneThrough(fn: FunctionDef, file: PythonFile): readonly Expr[] | null {
  if (!namesNoDevice(fn, file)) return null;
  const yields = file.all("Yield").filter((one) => functionOf(one) === fn);
  if (yields.length === 0 && fn.name !== "__next__") return null;
  const sources =
    yields.length > 0
      ? yields.map(({ from, value }) => (from || !value ? value && [value] : takenFrom(value, file)))
      : file
          .all("Return")
          .filter((statement) => functionOf(statement) === fn)
          .map(({ value }) => value && takenFrom(value, file));
  return sources.every((one) => one !== null) ? sources.flat() : null;
}

/** What a batch, or all of its parts, are handed out by: the iterable of a loop, or what `next` is called on. */
function takenFrom(expr: Expr, file: PythonFile, depth = 0): readonly Expr[] | null {
  if (depth > 5) return null;
  const again = (inner: Expr): readonly Expr[] | null => takenFrom(inner, file, depth + 1);
  let sources: readonly (readonly Expr[] | null)[] = [];
  const taken = expr.kind === "Call" ? nextOf(expr, file) : null;
  if (taken) sources = [[taken]];
  else if (expr.kind === "Tuple") sources = expr.items.map(again);
  else if (expr.kind === "Name")
    sources = file.scopes.reaching(expr).map(({ how, value }) => {
      if (how === "iterate") return value?.parent?.kind === "For" ? [value] : null;
      return value && (how === "assign" || how === "unpack") ? again(value) : null;
    });
  return sources.length > 0 && sources.every((one) => one !== null) ? sources.flat() : null;
}

/** Not the branch `if split == "val":` of a call that gives "train" for it. */
function isReached(statement: Stmt, fn: FunctionDef, call: Call): boolean {
  const shift = fn.params[0]?.name === "self" ? 1 : 0;
  for (let at: Node = statement; at !== fn && at.parent; at = at.parent) {
    const branch: Node = at.parent;
    if (branch.kind !== "If" || branch.test.kind !== "Compare" || branch.test.ops.join() !== "==") continue;
    const [asked, name] = [branch.test.rights[0], branch.test.left];
    if (asked?.kind !== "Str" || name.kind !== "Name") continue;
    const index = fn.params.findIndex((param) => param.name === name.id);
    const handed = index < 0 ? null : (keyword(call, name.id)?.value ?? positional(call, index - shift));
    if (handed?.kind !== "Str") continue;
    const holds = handed.value === asked.value;
    if (branch.body.includes(at as Stmt) ? !holds : branch.orelse.includes(at as Stmt) && holds) return false;
  }
  return true;
}

/** What every call in this file passes for a parameter. */
function passed(
  param: string,
  at: Expr,
  facts: Facts,
  depth: number,
  isMaker: IsMaker,
): readonly Call[] | null {
  const fn = functionOf(at);
  if (fn?.kind !== "FunctionDef") return null;
  if (fn.parent?.kind === "ClassDef" && fn.name === "__init__")
    return all(
      madeWith(param, fn, facts.file).map((given) => given && loadersOf(given, facts, depth + 1, isMaker)),
    );
  const shift = fn.parent?.kind === "ClassDef" && fn.params[0]?.name === "self" ? 1 : 0;
  const index = fn.params.findIndex((one) => one.name === param) - shift;
  return all(
    callsOf(fn, facts.file).map((call) => {
      const given = keyword(call, param)?.value ?? positional(call, index);
      return given ? loadersOf(given, facts, depth + 1, isMaker) : null;
    }),
  );
}

/** What a loop goes through, as it is written; of a progress bar or an iterator that was made before, what that was made around. */
export function iteratedText(iter: Expr, file: PythonFile): string {
  // `for step, batch in enumerate(bar)`
  const inner =
    iter.kind === "Call" && lastWord(iter.func) === "enumerate" ? (positional(iter, 0) ?? iter) : iter;
  const made = inner.kind === "Name" ? madeAs(inner, file) : null;
  if (made?.kind !== "Call") return file.textOf(iter);
  // `with iter(dataset) as batches:`
  if (file.dotted(made.func) === "builtins.iter") return file.textOf(positional(made, 0) ?? iter);
  return file.textOf(/tqdm|bar|loader/i.test(lastWord(made.func)) ? made : iter);
}

/** What a name was given, also by `with tqdm(loader) as bar:`. */
function madeAs(name: Name, file: PythonFile): Expr | null {
  const value = file.scopes.onlyValue(name);
  if (value) return value;
  const [one, ...more] = file.scopes.reaching(name);
  // `bar = tqdm(train_loader)` and, for the next loop, `bar = tqdm(test_loader)`.
  return (one?.how === "with" || one?.how === "assign") && more.length === 0 ? one.value : null;
}

/** How many DataLoaders a file, or a program, makes. */
export interface LoadersMade {
  readonly all: number;
  /** Of these, those that pin their batches. */
  readonly pinned: number;
  /** Those without workers. */
  readonly alone: number;
  /** Those that are for the training. */
  readonly training: number;
  readonly trainingPinned: number;
  /** Those that pin where a setting of another file, or the device, says so. */
  readonly asked: number;
}

/** `pin_memory=True`, also through a name, or wherever there is a device to pin for. */
export function pinsBatches(call: Call, file: PythonFile): boolean {
  const flag = given(call, "pin_memory", file);
  const value = flag?.kind === "Name" ? file.scopes.onlyValue(flag) : flag;
  return (
    isTrue(value) ||
    (flag?.kind === "Name" && isTrueByDefault(flag, file)) ||
    // `args.pin_mem`
    (flag?.kind === "Attribute" && holdsOptions(flag.value) && file.once(said).get(flag.attr) === true) ||
    (value?.kind === "Unary" &&
      value.op === "not" &&
      value.operand.kind === "Name" &&
      /^(?:is_)?(?:val|valid|validation|eval|test)$/.test(value.operand.id)) ||
    (value !== null && value !== undefined && asksForDevice(value, file))
  );
}

/** It pins its batches, or does where a setting that stands elsewhere or the device says so: `cfg.PIN_MEMORY`, `use_cuda`. */
export function mayPin(call: Call, file: PythonFile): boolean {
  // `torch.cuda.is_available() and args.pin` says of itself that it may be off.
  const asks = given(call, "pin_memory", file)?.kind !== "Bool" && pinsForDevice(call, file);
  return pinsBatches(call, file) || asks || pinsBySetting(call, file);
}

/** `use_cuda`, `not args.no_cuda`, `device.type != "cpu"`, `torch.accelerator.is_available()`; not `not use_cuda`. */
const ON_DEVICE =
  /^(?!not\b)(?!.*(?:no|disable)_?(?:cuda|gpu))(?!.*!= ?["']).*(?:cuda|gpu|\baccelerator\.is_available\()|^not .*(?:no|disable)_?(?:cuda|gpu|accel)|!= ?(?:torch\.device\()?["']cpu/i;

/** Pinned where the training is on a device: `pin_memory=use_cuda`, `is_cuda_device(device)`, `device != "cpu"`. */
export function pinsForDevice(loader: Call, file: PythonFile): boolean {
  const flag = given(loader, "pin_memory", file);
  const asked = flag?.kind === "Name" ? (file.scopes.onlyValue(flag) ?? flag) : flag;
  return asked !== null && [flag!, asked].some((one) => ON_DEVICE.test(file.textOf(one)));
}

/** `pin_memory=configs.pin_memory`, `config["loader"]["PIN_MEMORY"]`, and this file does not say that it is off. */
function pinsBySetting(loader: Call, file: PythonFile): boolean {
  const flag = given(loader, "pin_memory", file);
  const name =
    flag?.kind === "Attribute"
      ? flag.attr
      : flag?.kind === "Subscript" && flag.index.kind === "Str"
        ? flag.index.value
        : null;
  return name !== null && /^(?:use_)?pin_?mem(?:ory)?$/i.test(name) && file.once(said).get(name) !== false;
}

/** Whether there is a device to pin for: true in every training that uses one. */
function asksForDevice(value: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 3) return false;
  const again = (inner: Expr): boolean => asksForDevice(inner, file, depth + 1);
  // `device.type == "cuda"`, `str(device) != "cpu"`
  if (value.kind === "Compare") {
    const named = (device: string): boolean =>
      [value.left, ...value.rights].some((side) => side.kind === "Str" && side.value === device);
    return (
      value.ops.length === 1 &&
      (value.ops[0] === "!=" ? named("cpu") : ASKS.test(value.ops[0]!) && named("cuda"))
    );
  }
  // `torch.cuda.is_available() and not args.no_cuda`
  if (value.kind === "Bool")
    return value.op === "and" && value.values.every((one) => again(one) || isNotRefused(one));
  if (value.kind === "Name") {
    const made = file.scopes.onlyValue(value);
    return made !== null && again(made);
  }
  if (value.kind !== "Call") return false;
  if (/^torch\.(?:cuda|accelerator)\.is_available$/.test(file.dotted(value.func) ?? "")) return true;
  // `device.startswith("cuda")`
  const prefix =
    value.func.kind === "Attribute" && value.func.attr === "startswith" ? positional(value, 0) : null;
  if (prefix) return prefix.kind === "Str" && prefix.value === "cuda";
  // `is_cuda(device)` of this file, which asks the same.
  const target = callTarget(value, file);
  const returned = target === null ? undefined : file.once(returnsByName).get(target);
  return returned !== undefined && returned.every(again);
}

const ASKS = /^(?:==|in)$/;

/** `not args.no_cuda`, `not cpu` */
function isNotRefused(value: Expr): boolean {
  return (
    value.kind === "Unary" &&
    value.op === "not" &&
    /(?:^|_)(?:no_(?:cuda|gpu|accel)|cpu)$/.test(lastWord(value.operand))
  );
}

/** `def make_loader(data, pin_memory=True)`, and no call here says otherwise; or all of them say so. */
function isTrueByDefault(flag: Name, file: PythonFile): boolean {
  const [one, ...more] = file.scopes.reaching(flag);
  if (one?.node.kind !== "Param" || more.length > 0) return false;
  const byDefault = isTrue(one.node.default);
  const handed = handedTo(one, file);
  return (
    (byDefault || handed.length > 0) && handed.every((value) => (value === null ? byDefault : isTrue(value)))
  );
}

/** Which of a program's loaders pin their batches: at least as many as do not, only those for the training, or as a setting says. */
export type Pinning = "most" | "training" | "asked";

export function loadersMade(file: PythonFile): LoadersMade | undefined {
  const made = file.callsNamed("DataLoader").filter((call) => isDataLoader(file.dotted(call.func)));
  if (made.length === 0) return undefined;
  const training = made.filter((call) => isForTraining(call, file));
  const pins = (call: Call): boolean => pinsBatches(call, file);
  return {
    all: made.length,
    pinned: made.filter(pins).length,
    alone: made.filter((call) => !hasWorkers(call, file)).length,
    training: training.length,
    trainingPinned: training.filter(pins).length,
    asked: made.filter((call) => !pins(call) && mayPin(call, file)).length,
  };
}

/** By the name it gets, the data it is given, or because it shuffles them. */
function isForTraining(call: Call, file: PythonFile): boolean {
  const shuffle = keyword(call, "shuffle");
  const target = call.parent?.kind === "Assign" ? call.parent.targets[0] : null;
  const data = positional(call, 0) ?? keyword(call, "dataset")?.value ?? null;
  return (
    (shuffle !== null && isTrue(shuffle.value)) ||
    [target, data].some((one) => one && /train|trn/i.test(file.textOf(one)))
  );
}

/** What the calls in this file give for a parameter, of a constructor what instances are made with; null where it is left out. */
export function handedTo({ node, name }: Definition, file: PythonFile): readonly (Expr | null)[] {
  const fn = node.parent;
  if (fn?.kind !== "FunctionDef") return [];
  const cls = fn.name === "__init__" && fn.parent?.kind === "ClassDef" ? fn.parent : null;
  const calls = cls
    ? file.callsNamed(cls.name).filter((call) => file.dotted(call.func) === file.qualified(cls))
    : callsOf(fn, file);
  const shift = fn.params[0]?.name === "self" ? 1 : 0;
  const at = fn.params.findIndex((param) => param.name === name) - shift;
  return calls.map((call) => keyword(call, name)?.value ?? positional(call, at));
}

/** `.to(torch.long)` is a type. */
const NAMES_DEVICE =
  /device|cuda|\.to\((?!(?:dtype ?= ?)?torch\.(?:u?int\d*|long|short|bool|float\d*|half|bfloat16|double)\))/;

/** Nothing that a function or class is written with names a device. */
export function namesNoDevice(written: Node, file: PythonFile): boolean {
  return !NAMES_DEVICE.test(file.textOf(written));
}

export function hasWorkers(call: Call, file: PythonFile): boolean {
  const workers = given(call, "num_workers", file) ?? positional(call, 5);
  return workers !== null && !noWorkers(workers) && mayHaveWorkers(workers, file);
}

export const noWorkers = (workers: Expr): boolean => workers.kind === "Num" && workers.text === "0";

/** Not `def loader(dataset, workers=0)`, where all that call it here leave it at that. */
function mayHaveWorkers(workers: Expr, file: PythonFile): boolean {
  const [one, ...more] = workers.kind === "Name" ? file.scopes.reaching(workers) : [];
  if (one?.node.kind !== "Param" || more.length > 0 || !one.node.default || !noWorkers(one.node.default))
    return true;
  const handed = handedTo(one, file);
  return handed.length === 0 || handed.some((value) => value !== null && !noWorkers(value));
}
