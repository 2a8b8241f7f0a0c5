import { argument, keyword, positional } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Arg, Call, ClassDef, Expr, FunctionDef, Lambda, Name } from "../../python/tree.ts";
import { given } from "../facts/arguments.ts";
import { methodsOf, selfAttribute } from "../facts/classes.ts";
import type { Facts } from "../facts/facts.ts";
import { handedIn } from "../facts/handed-in.ts";
import { COLLATE_KEYWORDS, isIndexed } from "../facts/worker-data.ts";
import { likelyDataset } from "../facts/likely-data.ts";
import { callsOf } from "../facts/returns.ts";
import { FACTORIES, last } from "../facts/torch-names.ts";
import { loopsAround } from "../facts/training.ts";
import type { Finding, Rule } from "../rule.ts";

const WHY =
  "inside the loader: no pinning, no overlap, and with workers each needs a CUDA context of its own or fails";

export const rule: Rule = {
  meta: {
    code: "PLM039",
    name: "device-work-in-loader",
    summary: "A Dataset or collate function puts each example on the device",
    severity: "warning",
    fix: "none",
    patterns: [39],
  },
  *check(facts) {
    for (const call of facts.file.callsNamed("set_format", "with_format"))
      if (formatsOnDevice(call, facts))
        yield { at: call, severity: "note", message: `Examples go to the device one by one, ${WHY}` };
    const loads =
      facts.file.calls.given(COLLATE_KEYWORDS).length > 0 ||
      facts.file.all("FunctionDef").some(isCollate) ||
      facts.file.callsNamed("Lambda", "set_transform", "with_transform").length > 0 ||
      facts.file.all("ClassDef").some((cls) => facts.role(cls) === "dataset" || isIndexed(cls, facts.file));
    const { mayCollate } = facts;
    if (facts.guesses) return yield* guessed(facts);
    if (!loads && !mayCollate) return;
    for (const call of facts.file.callsNamed(
      "to",
      "cuda",
      "load",
      "FloatTensor",
      "LongTensor",
      ...FACTORIES,
    )) {
      // What sends nothing, which is most of it, is cheap to leave out.
      if (!sends(call, facts)) continue;
      const collated = mayCollate && isCollatedElsewhere(call, facts);
      if (!loads && !collated) continue;
      const certain = collated || isInLoader(call, facts);
      const fn = collatorOf(runnerOf(call, facts), facts);
      const cls = fn?.kind === "FunctionDef" && fn.name === "__getitem__" ? classOf(fn) : null;
      if (certain || (fn?.kind === "FunctionDef" && isCollate(fn)) || (cls && isIndexed(cls, facts.file)))
        yield {
          at: call,
          ...(certain ? {} : { severity: "note" as const }),
          message: `${isOfExample(call, facts) ? "Examples go to the device one by one" : "Batches go to the device"}, ${WHY}`,
        };
    }
  },
};

/** Whatever goes to the device in what hands out examples or puts them together, by what these are called. */
function* guessed(facts: Facts): Generator<Finding> {
  for (const call of facts.file.callsNamed("to", "cuda", "FloatTensor", "LongTensor", ...FACTORIES)) {
    if (!sends(call, facts) && !(facts.project.accelerated.size > 0 && isToDevice(call, facts))) continue;
    const fn = runnerOf(call, facts);
    if (fn?.kind === "FunctionDef" && (isCollate(fn) || COLLATES.test(fn.name) || isOfExamples(fn, facts)))
      yield {
        at: call,
        message: `${isCollate(fn) ? "Batches go to the device" : "Examples go to the device one by one"}, ${WHY}`,
      };
  }
}

const COLLATES = /^_*(?:\w+_)?collate(?:_\w+)?$|^_*collator$/;

/** `.to(self.device)`, `device=opt.device`: by the word. */
function isToDevice(call: Call, { file }: Facts): boolean {
  const device =
    keyword(call, "device")?.value ?? (lastWord(call.func) === "to" ? positional(call, 0) : null);
  return (
    device !== null &&
    /(?:^|[._])(?:device|dev|gpu|cuda)$/.test(file.textOf(device)) &&
    !/cpu/.test(file.textOf(device))
  );
}

/** A method that hands out examples, one that it calls, or a transform; but not what fills the device at the start. */
function isOfExamples(fn: FunctionDef, facts: Facts): boolean {
  const cls = fn.parent?.kind === "ClassDef" ? fn.parent : null;
  if (!cls || handsOutBatches(fn, facts)) return false;
  if (
    /(?:Transform|Augment\w*|ToTensor|Collat\w*|Crop|Normalize)$/.test(cls.name) &&
    facts.role(cls) !== "module"
  )
    return fn.name === "__call__";
  if (!likelyDataset(cls, facts)) return false;
  if (HANDS_OUT.test(fn.name)) return true;
  const reached = new Set(methodsOf(cls).filter(({ name }) => HANDS_OUT.test(name)));
  for (const one of reached)
    for (const other of methodsOf(cls)) if (callsOwn(one, other.name)) reached.add(other);
  return reached.has(fn);
}

const LOADS = /(?:DataLoader|Trainer)$/;

/** `rows.set_format("torch", device="cuda")`, where a loader or a trainer reads the rows: each is a tensor of the device as it is read. */
function formatsOnDevice(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const kind = argument(call, "type", 0);
  const device = given(call, "device", file);
  return (
    kind?.kind === "Str" &&
    kind.value === "torch" &&
    device !== null &&
    facts.isAccelerator(facts.device(device)) &&
    file.calls.matching(LOADS).length > 0
  );
}

/** The function around a call; of a helper that is defined in another one and called by it alone, that one: `def fn(rows): def pad(row): …`. */
function runnerOf(call: Call, facts: Facts): FunctionDef | Lambda | null {
  let fn = functionOf(call);
  while (fn?.kind === "FunctionDef" && fn.parent?.kind === "FunctionDef") {
    const [helper, around] = [fn, fn.parent];
    const uses = usesWithin(helper, around, facts);
    if (uses.length === 0 || !uses.every(isCalled)) break;
    fn = around;
  }
  return fn;
}

/** Where the function around it reads the name of a helper. */
function usesWithin(helper: FunctionDef, around: FunctionDef, { file }: Facts): readonly Name[] {
  return file
    .all("Name")
    .filter(
      (name) =>
        name.id === helper.name &&
        contains(around, name) &&
        !contains(helper, name) &&
        file.scopes.reaching(name).some(({ node }) => node === helper),
    );
}

/** `pad(row)`, and not `return pad` or `register(pad)`. */
function isCalled(name: Name): boolean {
  return name.parent?.kind === "Call" && name.parent.func === name;
}

/** Of a function or method of this file that only one that collates calls, that one. */
function collatorOf(fn: FunctionDef | Lambda | null, { file }: Facts): FunctionDef | Lambda | null {
  if (fn?.kind !== "FunctionDef" || fn.parent?.kind === "FunctionDef" || isCollate(fn)) return fn;
  const callers = callsOf(fn, file).map((call) => functionOf(call));
  const [one] = callers;
  return one?.kind === "FunctionDef" && callers.every((other) => other === one) && isCollate(one) ? one : fn;
}

/** By its name, whoever hands it to a loader. */
function isCollate(fn: FunctionDef): boolean {
  const { name, parent } = fn;
  return (
    isCollator(fn) ||
    (/(?:^|_)collate(?:_|$)|_collator$/.test(name) &&
      (parent?.kind === "Module" || parent?.kind === "ClassDef" || isHandedBack(fn)))
  );
}

/** `def make(pad): def collate(batch): …; return collate` */
function isHandedBack({ name, parent }: FunctionDef): boolean {
  return (
    parent?.kind === "FunctionDef" &&
    parent.body.some((one) => one.kind === "Return" && one.value?.kind === "Name" && one.value.id === name)
  );
}

/** In a function that a loader of another file collates with, or in the one that such a function hands back. */
function isCollatedElsewhere(call: Call, facts: Facts): boolean {
  const fn = runnerOf(call, facts);
  if (fn?.kind !== "FunctionDef") return false;
  return isHandedBack(fn) ? facts.functionFacts(fn).collates : facts.functionFacts(fn.body[0]!).collates;
}

/** `__call__` of what is named for putting batches together, whoever makes one and hands it to a loader. */
function isCollator(fn: FunctionDef): boolean {
  return (
    fn.name === "__call__" &&
    fn.parent?.kind === "ClassDef" &&
    /(?:^|_)collat(?:e|or)|Collat(?:e|or)/.test(fn.parent.name)
  );
}

/** `batch["x"].device`: where the example is already, on the host. */
function isWhereItIs(expr: Expr, { file, networks }: Facts): boolean {
  const device = expr.kind === "Name" ? (file.scopes.onlyValue(expr) ?? expr) : expr;
  return (
    device.kind === "Attribute" &&
    device.attr === "device" &&
    !networks.is(device.value) &&
    !/^(?:self|cls|args|cfg|config|accelerator)$/.test(file.textOf(device.value)) &&
    selfAttribute(device.value) === null &&
    // Nothing in there has moved it.
    !/cuda|self\.device/.test(file.textOf(functionOf(expr) ?? expr))
  );
}

function sends(call: Call, facts: Facts): boolean {
  const name = facts.file.dotted(call.func) ?? "";
  const device = keyword(call, "device");
  if (name === `torch.${last(name)}` && FACTORIES.has(last(name)))
    return (
      device !== null && facts.isAccelerator(facts.device(device.value)) && !isWhereItIs(device.value, facts)
    );
  if (/^torch\.cuda\.\w+Tensor$/.test(name)) return true;
  if (name === "torch.load")
    return facts.isAccelerator(facts.device(keyword(call, "map_location")?.value ?? positional(call, 1)));
  if (call.func.kind !== "Attribute") return false;
  if (call.func.attr === "cuda") return true;
  const to = call.func.attr === "to" ? (device?.value ?? call.args[0]?.value ?? null) : null;
  return to !== null && facts.isAccelerator(facts.device(to)) && !isWhereItIs(to, facts);
}

/** In a dataset, a transform, or a loop; a function that collates has the whole batch. */
function isOfExample(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  const cls = fn ? classOf(fn) : null;
  return (
    (cls !== null && facts.role(cls) === "dataset") ||
    (fn?.kind === "FunctionDef" &&
      fn.parent?.kind === "Module" &&
      callsOf(fn, facts.file).some((one) => handsOutExamples(functionOf(one), facts))) ||
    (fn?.kind === "Lambda" && fn.parent?.kind === "Arg" && isTransform(fn.parent, facts)) ||
    loopsAround(call).length > 0
  );
}

/** `get` is what the datasets of graphs have. */
const HANDS_OUT = /^(?:__(?:getitem|getitems|iter|next)__|get)$/;

/** `self.read(path)` somewhere in the method. */
function callsOwn(method: FunctionDef, name: string): boolean {
  let found = false;
  walk(method, (node) => {
    if (node.kind === "Call" && selfAttribute(node.func) === name) found = true;
    return !found;
  });
  return found;
}

/** An iterator that puts the batches together itself copies each once, as a loop would. */
function handsOutBatches(fn: FunctionDef, facts: Facts): boolean {
  return /^__(?:iter|next)__$/.test(fn.name) && /batch/i.test(facts.file.codeOf(fn));
}

/** A method by which a dataset hands out examples, or that such a one calls. */
function handsOutExamples(fn: FunctionDef | Lambda | null, facts: Facts): boolean {
  const cls = fn?.kind === "FunctionDef" && fn.parent?.kind === "ClassDef" ? fn.parent : null;
  return (
    fn?.kind === "FunctionDef" &&
    cls !== null &&
    facts.role(cls) === "dataset" &&
    !handsOutBatches(fn, facts) &&
    (HANDS_OUT.test(fn.name) ||
      methodsOf(cls).some((method) => HANDS_OUT.test(method.name) && callsOwn(method, fn.name)))
  );
}

function isInLoader(call: Call, facts: Facts): boolean {
  let fn = runnerOf(call, facts);
  if (
    fn?.kind === "Lambda" &&
    fn.parent?.kind === "Arg" &&
    (collates(fn.parent) || isTransform(fn.parent, facts))
  )
    return true;
  while (fn?.kind === "Lambda") fn = functionOf(fn);
  if (fn?.kind !== "FunctionDef") return false;
  const cls = classOf(fn);
  // An instance of it is what a DataLoader collates with.
  if (cls && fn.parent === cls && fn.name === "__call__")
    return facts.file.all("Arg").some((arg) => collates(arg) && isInstance(arg.value, cls, facts));
  // `collate_fn=maker.collate`
  const handed = facts.file
    .all("Arg")
    .some((arg) => collates(arg) && arg.value.kind === "Attribute" && arg.value.attr === fn.name);
  if (cls && fn.parent === cls && handed) return true;
  if (cls && fn.parent === cls) return handsOutExamples(fn, facts);
  // `load(path)`, which nobody but the methods of a dataset calls
  const callers = fn.parent?.kind === "Module" ? callsOf(fn, facts.file).map((one) => functionOf(one)) : [];
  if (callers.length > 0 && callers.every((caller) => handsOutExamples(caller, facts))) return true;
  // `to_device(batch)`, which nobody but what collates calls
  if (
    callers.length > 0 &&
    callers.every((caller) => caller?.kind === "FunctionDef" && isGivenToLoader(caller, facts))
  )
    return true;
  // `dataset.set_transform(prepare)`
  if (
    facts.file
      .callsNamed("set_transform", "with_transform")
      .some((one) => one.args[0]?.value.kind === "Name" && one.args[0].value.id === fn.name)
  )
    return true;
  return isGivenToLoader(fn, facts);
}

/** A function that a DataLoader of this file collates with. */
function isGivenToLoader(fn: FunctionDef, facts: Facts): boolean {
  return facts.file.all("Arg").some((arg) => collates(arg) && collatesWith(arg.value, fn, facts));
}

function collates({ name }: Arg): boolean {
  return name !== null && COLLATE_KEYWORDS.includes(name);
}

/** `transforms.Lambda(lambda x: x.to(device))` runs in the loader, on each example. */
function isTransform({ parent }: Arg, { file }: Facts): boolean {
  return (
    parent?.kind === "Call" &&
    /^torchvision\.transforms\.(?:transforms\.|v2\.)?Lambda$/.test(file.dotted(parent.func) ?? "")
  );
}

/** Made in place, or once before. */
function isInstance(value: Expr, cls: ClassDef, { file }: Facts): boolean {
  const made = value.kind === "Name" ? file.scopes.onlyValue(value) : value;
  return made?.kind === "Call" && file.dotted(made.func) === file.qualified(cls);
}

/** The function itself, or `partial(collate, …)` of it. */
function collatesWith(value: Expr, fn: FunctionDef, facts: Facts): boolean {
  const first =
    value.kind === "Call" && facts.file.dotted(value.func) === "functools.partial"
      ? positional(value, 0)
      : value;
  const isIt = (one: Expr): boolean => one.kind === "Name" && one.id === fn.name;
  if (first && isIt(first)) return true;
  // `def loader_of(rows, collate): return DataLoader(rows, collate_fn=collate)`: what the calls here give it.
  const given = first?.kind === "Name" ? facts.file.scopes.reaching(first) : [];
  if (given.some((one) => handedIn(one, facts.file, true).some(isIt))) return true;
  // `collate_fn=make(pad)`, also made before.
  const made = first?.kind === "Name" ? facts.file.scopes.onlyValue(first) : first;
  const maker = made?.kind === "Call" && made.func.kind === "Name" ? made.func.id : null;
  return fn.parent?.kind === "FunctionDef" && fn.parent.name === maker && isHandedBack(fn);
}
