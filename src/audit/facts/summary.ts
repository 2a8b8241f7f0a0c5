import { argument, starModules } from "../../python/file.ts";
import type { Reads } from "./openers.ts";
import type { Condition } from "./turn-conditions.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type {
  Attribute,
  Call,
  ClassDef,
  Expr,
  FunctionDef,
  Lambda,
  Name,
  Node,
  Sequence,
} from "../../python/tree.ts";
import type { Accelerator } from "./accelerator.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import { isGiven } from "./broken.ts";
import { WRAPPERS, bareCall, className, madeBy, movedByItself } from "./constructors.ts";
import { handedIn } from "./handed-in.ts";
import { handedOutAs, heldType } from "./held-instances.ts";
import type { Keeps } from "./keepers.ts";
import type { Loads } from "./loader-makers.ts";
import type { LoadersMade } from "./loaders.ts";
import { isForLearned } from "./names.ts";
import type { Default } from "./options.ts";
import type { Passed } from "./parameters.ts";
import { isCapital } from "./torch-names.ts";
import type { HandedOut } from "./hands-out.ts";
import type { Table } from "./tables.ts";
import type { Trained } from "./trained-elsewhere.ts";

/**
 * What the rest of the project needs to know about a file. Plain data: it crosses threads as JSON, tens of thousands of
 * functions of it, so what says nothing is left out.
 */
export interface FileSummary {
  readonly path: string;
  readonly module: string;
  readonly functions: readonly FunctionSummary[];
  readonly classes: readonly ClassSummary[];
  /** The file moves something to an accelerator, or hands its training to a library that does. */
  readonly accelerator?: Accelerator | undefined;
  /** What has made the networks that it trains, where it leaves them where they were made. */
  readonly makers?: readonly string[] | undefined;
  /** Networks made here may be on an accelerator from the beginning. */
  readonly settles?: true | undefined;
  /** What its options are unless somebody says otherwise. */
  readonly options?: Readonly<Record<string, Default>> | undefined;
  /** Dotted names that it imports; one that ends with a dot is a package, of which it imports a module that it names as it runs. */
  readonly imports: readonly string[];
  /** What it defines besides functions and classes; left out where nobody can tell. */
  readonly variables?: string | undefined;
  /** Functions used as values: called by who knows whom. */
  readonly escapes: readonly string[];
  /** The same, of what it imports. */
  readonly values?: readonly string[] | undefined;
  /** Its functions, methods ("Net.fit") and classes that may be given something or nothing. */
  readonly asks?: readonly string[] | undefined;
  /** What its calls give to functions, methods and classes of other files. */
  readonly gives: Readonly<Record<string, readonly string[]>>;
  /** Its functions that hand out an array of float64, whole, `sample:`, at places, `sample:0,2`, or under keys: `sample:gains`. */
  readonly wide?: readonly string[] | undefined;
  /** It brings batches of varying shapes. */
  readonly varies?: true | undefined;
  /** By its words it may. */
  readonly mayVary?: true | undefined;
  /** It has new tensors made on the device unless told otherwise. */
  readonly defaults?: true | undefined;
  /** It has the host wait for every kernel. */
  readonly blocks?: true | undefined;
  /** `param.grad.detach_()`, which gradients that are views of something do not allow. */
  readonly cutsGrads?: true | undefined;
  /** Autograd's anomaly detection is switched on, at the top or first in a function: it reads every gradient. */
  readonly searches?: true | undefined;
  /** The DataLoaders that it makes. */
  readonly loaders?: LoadersMade | undefined;
  /** It sets up ranks, or has a library do so. */
  readonly ranks?: true | undefined;
  /** It has each rank choose its device, or be shown one, or has a library do so. */
  readonly places?: true | undefined;
  /** Functions of other files that it calls before a rank has chosen its device. */
  readonly early?: readonly string[] | undefined;
  /** It puts DistributedDataParallel around a network. */
  readonly replicates?: true | undefined;
  /** What it has to put around work and time it, and that does not wait for the device. */
  readonly timers?: readonly string[] | undefined;
  /** What it hands networks to that it only ever evaluates. */
  readonly teachers?: readonly string[] | undefined;
  /** Loaders that it hands to functions of other files, to which, and what made them. */
  readonly handsLoaders?: readonly string[] | undefined;
  /** Datasets that it hands to functions of other files, and to which. */
  readonly datasets?: readonly string[] | undefined;
  /** Functions and classes that put batches together and name no device. */
  readonly collates?: readonly string[] | undefined;
  /** Classes of examples that cannot be pinned. */
  readonly unpinned?: readonly string[] | undefined;
  /** A loss of it goes on with what it is given on the host. */
  readonly hostLoss?: true | undefined;
  /** It differentiates `self.loss`, which who has the object may read. */
  readonly ownLoss?: true | undefined;
  /** It packs sequences by lengths that it has to fetch from the device. */
  readonly packs?: true | undefined;
  /** It reads hidden states or attentions of a network, by name or by position. */
  readonly states?: true | undefined;
  /** It turns activation checkpointing on. */
  readonly checkpoints?: true | undefined;
  /** What it hands to a Trainer and has from other files. */
  readonly trained?: Trained | undefined;
  /** It puts adapters around a model, or sees to it that gradients get into what is checkpointed. */
  readonly adapters?: "made" | "fed" | undefined;
  /** It freezes embeddings, by themselves or with all that is not adapters. */
  readonly freezesInputs?: true | undefined;
  /** It loads models in four or eight bits. */
  readonly quantizes?: true | undefined;
  /** It can be started by itself: `if __name__ == "__main__":` */
  readonly main?: true | undefined;
  /** Something in it trains, or has it done by a library. */
  readonly trains?: true | undefined;
  /** The folder it is in whose name says that the program does without it: "legacy". */
  readonly aside?: string | undefined;
}

export interface FunctionSummary {
  /** Qualified; a file's own statements are "<module>.<body>". */
  readonly name: string;
  readonly method?: true | undefined;
  /** By whatever decorates it, it may be known to a registry. */
  readonly decorated?: true | undefined;
  readonly grad?: "on" | "off" | undefined;
  /** A call of which there is nothing else to say is its target alone. */
  readonly calls: readonly (Target | CallSite)[];
  /** A backward or optimizer step outside of any loop here. */
  readonly loose?: true | undefined;
  /** Loops, by number, that are the innermost ones around a backward or an optimizer step. */
  readonly stepLoops?: readonly number[] | undefined;
  readonly backward?: true | undefined;
  /** The parameter that has it train, and without which it only looks. */
  readonly switch?: string | undefined;
  /** An optimizer steps here: once, or in a loop of its own, which then goes through many steps and is none. */
  readonly steps?: "once" | "many" | undefined;
  /** With a comma between them, `**rest` as it is written: most are never asked for. */
  readonly params: string;
  readonly keeps?: Keeps | undefined;
  /** Turns one of its parameters into a Python number. */
  readonly reads?: true | undefined;
  /** It reads an example from a file, and hands it back. */
  readonly opens?: Reads | undefined;
  /** When the context that it hands back lets ranks exchange gradients, of its parameters. */
  readonly syncs?: Condition | undefined;
  /** Parameters that it sends to a device and waits for. */
  readonly copies?: readonly string[] | undefined;
  /** It hands out a loader of pinned batches. */
  readonly pins?: true | undefined;
  /** An engine calls it on every step. */
  readonly hooked?: true | undefined;
  /** It hands out new DataLoaders each time, and some of them have workers. */
  readonly loads?: Loads | undefined;
  /** Parameters that workers read, of a loader which it makes. */
  readonly feeds?: readonly string[] | undefined;
  /** It makes a tensor on the host. */
  readonly table?: Table | undefined;
  /** The parameter that it hands back, reduced over all processes. */
  readonly reduces?: string | undefined;
  /** Of a loss: parameters that it only computes with. */
  readonly usesUp?: readonly string[] | undefined;
  /** The parameter that it runs, and where in what it returns the results are: "net", "net,0,1". */
  readonly runs?: string | undefined;
  /** Its losses, still on the device, among what it hands back. */
  readonly losses?: string | undefined;
  /** A forward that cuts a state it is given off from what made it. */
  readonly cutsOff?: true | undefined;
  /** Of a forward: where in the tuple that it hands back there are numbers, "3 of 4", with a comma between them. */
  readonly numbers?: string | undefined;
  /** It clears gradients before its last backward alone: who called it still has those of that. */
  readonly uncleared?: true | undefined;
  /** It puts a network into eval mode and goes through examples with it. */
  readonly evaluates?: true | undefined;
  /** An evaluation by its name, which leaves it to who calls it whether anything is recorded. */
  readonly unguarded?: true | undefined;
  /** A method that runs a network to see what comes of it, and whether it leaves it to its callers that nothing is recorded. */
  readonly infers?: boolean | undefined;
  /** In a file that differentiates: neither it nor what it calls there waits for the device each time. */
  readonly queues?: true | undefined;
  /** It runs what it is handed, and neither it nor what it calls there waits for the device each time. */
  readonly forwards?: true | undefined;
  /** It has all ranks wait for each other, and does nothing else. */
  readonly meets?: true | undefined;
  /** What it makes anew for whoever calls it. */
  readonly makes?: HandedOut | undefined;
  /** It clips gradients, and leaves the step to who calls it. */
  readonly clips?: true | undefined;
  /** Parameters by which it is handed errors, and that it keeps. */
  readonly holds?: readonly string[] | undefined;
}

/** A function of the same file by its position there, a qualified name, or ".method" where the receiver is unknown. */
export type Target = number | string;

export interface CallSite {
  readonly target: Target;
  /** Loops around it, innermost first. */
  readonly loops?: readonly number[] | undefined;
  readonly grad?: "on" | "off" | "unknown" | undefined;
  /** A test stands between it and what runs every turn, and not one that holds for a whole run. */
  readonly throttled?: true | undefined;
  /** Of what is throttled: the branch that it runs in on every turn, by where that begins. */
  readonly branch?: number | undefined;
  /** Tensors among the arguments. */
  readonly passed?: Passed | undefined;
  /** Of what it returns only a number is wanted: `net.penalty().item()`. */
  readonly read?: true | undefined;
  /** What it makes is a dataset that worker processes read; or does where the settings of another file ask for some. */
  readonly workers?: true | "asked" | undefined;
  /** A loader is given it, or what it makes, to put batches together with. */
  readonly collates?: true | undefined;
  /** It draws from a buffer that was handed in, of a class that this file does not have. */
  readonly draws?: true | undefined;
  /** A method that networks are often run by alone, called here beside a backward. */
  readonly beside?: true | undefined;
  /** In a loop of a file that trains: what it gives, as far as a switch may be among it. */
  readonly gives?: string | undefined;
  /** Classes of the instances that it hands to a function of another file, with a comma between them. */
  readonly lent?: string | undefined;
}

const NOTHING_MORE: Omit<CallSite, "target"> = {};

export const targetOf = (call: Target | CallSite): Target => (typeof call === "object" ? call.target : call);
/** What is said of a call beside its target. */
export const siteOf = (call: Target | CallSite): Omit<CallSite, "target"> =>
  typeof call === "object" ? call : NOTHING_MORE;

export interface ClassSummary {
  readonly name: string;
  readonly bases: readonly string[];
  readonly methods: readonly string[];
  /** Functions and classes of its file that speak of it; "" of the file's own statements, MAIN of those where it is started. */
  readonly users?: readonly string[] | undefined;
  /** By whatever decorates it, it may be known to a registry. */
  readonly decorated?: true | undefined;
  /** Attributes that it only ever gives what a class makes, with a comma between them; not of parts of other classes. */
  readonly parts?: string | undefined;
}

const BODY = "<body>";
/** After the name of a function: the function that it defines and hands out. */
export const MADE = ".<made>";
/** Stands for what runs only when a file itself is started. */
export const MAIN = "__main__";

/** `if __name__ == "__main__":` */
export function isMain(node: Node): boolean {
  return (
    node.kind === "If" &&
    node.test.kind === "Compare" &&
    node.test.left.kind === "Name" &&
    node.test.left.id === "__name__"
  );
}

export function functionName(node: Node, file: PythonFile): string {
  return nameOfFunction(functionOf(node), file);
}

/** Null: the file's own statements. */
export function nameOfFunction(of: FunctionDef | Lambda | null, file: PythonFile): string {
  let fn = of;
  while (fn?.kind === "Lambda") fn = functionOf(fn);
  return fn ? file.qualified(fn) : `${file.module}.${BODY}`;
}

/** The qualified name a call goes to, as far as this file can tell. */
export function callTarget(call: Call, file: PythonFile): string | null {
  if (call.target === undefined) call.target = findTarget(call, file);
  return call.target;
}

function findTarget(call: Call, file: PythonFile): string | null {
  const { func } = call;
  const dotted = file.dotted(func);
  if (dotted !== null) return dotted.startsWith("builtins.") ? ofStar(func, file) : dotted;
  if (func.kind === "Attribute") {
    const cls = enclosingClass(call);
    const own = selfAttribute(func);
    if (own !== null && cls) {
      const type = madeOnSelf(own, cls, file);
      if (type !== null && !methodsOf(cls).some((method) => method.name === own))
        return file.joined(type, "forward");
      return chosenOnSelf(own, cls, file)[0] ?? file.joined(file.qualified(cls), own);
    }
    // `super().forward(x)` is of a base, which may be a library's.
    if (func.value.kind === "Call" && func.value.func.kind === "Name" && func.value.func.id === "super") {
      const base = cls?.args[0] ? file.dotted(cls.args[0].value) : null;
      return base === null ? null : `${base}.${func.attr}`;
    }
    return file.joined(instanceType(func.value, file) ?? samplerOf(func, file) ?? "", func.attr);
  }
  if (func.kind === "Name") {
    // `self(x)` runs the forward of its own class.
    const cls = func.id === "self" ? enclosingClass(call) : null;
    if (cls) return `${file.qualified(cls)}.forward`;
    const type = instanceType(func, file);
    if (type !== null) return `${type}.forward`;
    return chosenFunction(func, file);
  }
  return null;
}

/** What makes an attribute: `Net` of `self.net = Net().to(device)`, and of `self.ddp = DistributedDataParallel(self.net)`. */
function madeOnSelf(own: string, cls: ClassDef, file: PythonFile, depth = 0): string | null {
  const made = attributesOf(cls, file).get(own)?.writes[0]?.value;
  if (made?.kind !== "Call") return null;
  const call = bareCall(made);
  const type = file.dotted(call.func);
  const inner = type !== null && WRAPPERS.test(type) ? call.args[0]?.value : undefined;
  if (!inner || depth > 1) return type;
  const wrapped = selfAttribute(inner);
  return (wrapped === null ? instanceType(inner, file) : madeOnSelf(wrapped, cls, file, depth + 1)) ?? type;
}

/** `from model import *` and `from utils import *`: either may have the function. */
function ofStars(func: Name, file: PythonFile): readonly string[] {
  const modules = file.once(starModules);
  return modules.length < 2 || isGiven(func.id) || file.dotted(func) !== `builtins.${func.id}`
    ? NO_TARGETS
    : modules.map((module) => `${module}.${func.id}`);
}

/** A function of the one module whose names are all taken. */
function ofStar(func: Expr, file: PythonFile): string | null {
  const [module, ...more] = func.kind === "Name" ? file.once(starModules) : [];
  return module !== undefined && more.length === 0 ? `${module}.${(func as Name).id}` : null;
}

/**
 * `backwards = partial(loss_backwards, fp16)`; `sample = mixed if random() < p else plain`, or the same by branches: the
 * first of the two.
 */
function chosenFunction(name: Name, file: PythonFile): string | null {
  const [chosen] = chosenByName(name, file);
  if (chosen !== undefined) return chosen;
  const value = file.scopes.onlyValue(name);
  const made = value?.kind === "IfExp" ? value.body : value;
  const fn =
    made?.kind === "Call" && file.dotted(made.func) === "functools.partial"
      ? (made.args[0]?.value ?? null)
      : value?.kind === "IfExp"
        ? made
        : null;
  // `step = make_step(optimizer)`: what a function defines and hands out.
  const factory = value?.kind === "Call" && !fn ? file.dotted(value.func) : null;
  if (factory !== null)
    return /^(?:builtins|torch|numpy)\.|(?:^|\.)_*[A-Z]\w*$/.test(factory) ? null : `${factory}${MADE}`;
  const dotted = fn ? file.dotted(fn) : null;
  return dotted === null || dotted.startsWith("builtins.") ? null : dotted;
}

/**
 * `loss_fn = contrastive`, in one branch or another: the functions that a name stands for, where all that reaches it is such.
 * So is `loss_fn` of `def train(net, loss_fn)`, where this file says `train(net, contrastive)`.
 */
function chosenByName(name: Name, file: PythonFile): readonly string[] {
  // Asked of every call by a plain name: most are bound to no other name.
  return file.scopes.lookup(name)?.definitions.some(mayGive) === true && !isForLearned(name.id)
    ? functionsIn(file.scopes.reaching(name), file)
    : NO_TARGETS;
}

/** The same of `self.loss_fn`, by all that the class writes to it. */
function chosenOnSelf(own: string, cls: ClassDef, file: PythonFile): readonly string[] {
  const writes = attributesOf(cls, file).get(own)?.writes;
  return writes?.some(isGivenName) === true && !isForLearned(own) ? functionsIn(writes, file) : NO_TARGETS;
}

interface Given {
  readonly how: string;
  readonly value: Expr | null;
}

function isGivenName({ how, value }: Given): boolean {
  return (
    how === "assign" && (value?.kind === "Name" || value?.kind === "Attribute" || value?.kind === "IfExp")
  );
}

function mayGive(one: Definition): boolean {
  return isGivenName(one) || (one.how === "param" && one.name !== "self");
}

/** A name is handed on a few times at most: from the program to its training, to an epoch of it. */
const HANDED_ON = 3;

function functionsIn(given: readonly (Given | Definition)[], file: PythonFile, depth = 0): readonly string[] {
  const found: string[] = [];
  for (const one of given) {
    const values = isGivenName(one) ? [one.value!] : "node" in one ? handedFunctions(one, file) : [];
    if (values.length === 0) return NO_TARGETS;
    for (const value of values)
      for (const fn of value.kind === "IfExp" ? [value.body, value.orelse] : [value]) {
        const targets = functionsOf(fn, file, depth);
        if (targets.length === 0) return NO_TARGETS;
        for (const target of targets) if (!found.includes(target)) found.push(target);
      }
  }
  return found;
}

function functionsOf(fn: Expr, file: PythonFile, depth: number): readonly string[] {
  const dotted = file.dotted(fn) ?? ownMethod(fn, file);
  if (dotted !== null) return dotted.startsWith("builtins.") ? NO_TARGETS : [dotted];
  return fn.kind === "Name" && depth < HANDED_ON
    ? functionsIn(file.scopes.reaching(fn), file, depth + 1)
    : NO_TARGETS;
}

/** What this file gives for a parameter, or what it is where nobody gives one: `def train(net, loss_fn=contrastive)`. */
function handedFunctions(param: Definition, file: PythonFile): readonly Expr[] {
  if (param.how !== "param") return [];
  const fn = param.node.parent;
  const handed =
    fn?.kind === "FunctionDef" && fn.name === "__init__"
      ? handedToConstructor(param, fn, file)
      : handedIn(param, file, true);
  return handed.length > 0 || param.value === null ? handed : [param.value];
}

/** `Trainer(net, contrastive)`, of `def __init__(self, net, loss_fn)`. */
function handedToConstructor({ name }: Definition, fn: FunctionDef, file: PythonFile): readonly Expr[] {
  const cls = fn.parent;
  if (cls?.kind !== "ClassDef") return [];
  const at = fn.params.findIndex((param) => param.name === name) - 1;
  return file.callsNamed(cls.name).flatMap((call) => {
    const value = file.dotted(call.func) === file.qualified(cls) ? argument(call, name, at) : null;
    return value ? [value] : [];
  });
}

/** `self.contrastive`, of the class around it. */
function ownMethod(fn: Expr, file: PythonFile): string | null {
  const own = selfAttribute(fn);
  const cls = own === null ? null : enclosingClass(fn);
  return cls && methodsOf(cls).some(({ name }) => name === own) ? `${file.qualified(cls)}.${own}` : null;
}

/**
 * Where a call goes besides, when a name stands for one function or another, or when what is called, or has its method
 * called, is made of one class or another: `A(…) if small else B(…)`.
 */
export function otherTargets(call: Call, file: PythonFile): readonly string[] {
  const { func } = call;
  if (func.kind === "Name") {
    if (file.dotted(func) !== null) return ofStars(func, file);
    // `net(x)` of one class or another runs the forward of either.
    if (callTarget(call, file) !== null) return chosenByName(func, file).slice(1);
    const picked = functionsPicked(func, file);
    return picked.length > 0 ? picked : madeTargets(call, func, "forward", file);
  }
  if (func.kind === "Subscript" || func.kind === "Call") return functionsInTable(tableOf(func, file), file);
  if (func.kind !== "Attribute") return NO_TARGETS;
  const own = selfAttribute(func);
  const cls = own === null ? null : enclosingClass(func);
  if (cls) return chosenOnSelf(own!, cls, file).slice(1);
  return file.dotted(func) === null ? madeTargets(call, func.value, func.attr, file) : NO_TARGETS;
}

/** The table that a function is taken from: `losses[kind]`, `random.choice(mixers)`. */
function tableOf(picked: Expr, file: PythonFile): Expr | null {
  if (picked.kind === "Subscript") return picked.value;
  return picked.kind === "Call" && /^(?:numpy\.)?random\.choice$/.test(file.dotted(picked.func) ?? "")
    ? (picked.args[0]?.value ?? null)
    : null;
}

/** `mix = mixers[k]`, `mix = random.choice(mixers)`, `for mix in mixers`: any of them. */
function functionsPicked(name: Name, file: PythonFile): readonly string[] {
  const [one, ...more] = file.scopes.lookup(name)?.definitions ?? [];
  if (!one?.value || more.length > 0) return NO_TARGETS;
  if (one.how === "assign") return functionsInTable(tableOf(one.value, file), file);
  return one.how === "iterate" && one.index === null ? functionsInTable(one.value, file) : NO_TARGETS;
}

/** `losses[kind](outputs, targets)` of `losses = {"labels": self.loss_labels, …}` or of a list, or the table itself: any of them. */
function functionsInTable(table: Expr | null, file: PythonFile): readonly string[] {
  if (!table) return NO_TARGETS;
  const isTable = table.kind === "Dict" || table.kind === "List" || table.kind === "Tuple";
  const [made, ...more] = isTable ? [table] : valuesOf(table, file);
  if (!made || more.length > 0) return NO_TARGETS;
  const held = made.kind === "Dict" ? made.values : LISTS.test(made.kind) ? (made as Sequence).items : [];
  return held.flatMap((fn) => functionsOf(fn, file, HANDED_ON));
}

const LISTS = /^(?:List|Tuple)$/;

/** By all classes that an instance may be of, their methods of that name. */
function madeTargets(call: Call, instance: Expr, method: string, file: PythonFile): readonly string[] {
  if (!hasChoice(instance, file)) return NO_TARGETS;
  const values = valuesOf(instance, file);
  if (values.length < 2 && values[0]?.kind !== "IfExp") return NO_TARGETS;
  const first = callTarget(call, file);
  const targets = new Set<string>();
  for (const value of values)
    for (const made of value?.kind === "IfExp" ? [value.body, value.orelse] : [value]) {
      const type = made?.kind === "Call" ? madeBy(made, file) : null;
      if (type !== null && `${type}.${method}` !== first) targets.add(`${type}.${method}`);
    }
  return [...targets];
}

const NO_TARGETS: readonly string[] = [];

/** Whether a name or an attribute of self may be one of several instances. Asked of every call of a method. */
function hasChoice(expr: Expr, file: PythonFile): boolean {
  let bound: readonly { readonly value: Expr | null }[] | undefined;
  if (expr.kind === "Name") bound = file.scopes.lookup(expr)?.definitions;
  else {
    const own = selfAttribute(expr);
    const cls = own === null ? null : enclosingClass(expr);
    bound = cls ? attributesOf(cls, file).get(own!)?.writes : undefined;
  }
  if (bound === undefined) return false;
  for (const { value } of bound)
    if (value?.kind === "IfExp" || (bound.length > 1 && value?.kind === "Call" && mayMake(value)))
      return true;
  return false;
}

/** `Net(…)`, `nets.Net(…)`, `Net(…).to(device)` */
function mayMake({ func }: Call): boolean {
  if (func.kind === "Attribute" && func.value.kind === "Call") return true;
  const name = func.kind === "Attribute" ? func.attr : func.kind === "Name" ? func.id : "";
  return isCapital(name);
}

/** All that a name or an attribute of self is ever bound to. */
function valuesOf(expr: Expr, file: PythonFile): readonly (Expr | null)[] {
  if (expr.kind === "Name")
    return (file.scopes.lookup(expr)?.definitions ?? []).flatMap(({ how, value }) =>
      how === "assign" ? [value] : [],
    );
  const own = selfAttribute(expr);
  const cls = own === null ? null : enclosingClass(expr);
  return cls ? (attributesOf(cls, file).get(own!)?.writes ?? []).map(({ value }) => value) : [];
}

/** The class an expression is an instance of, when every reaching definition is the same constructor call. */
export function instanceType(expr: Expr, file: PythonFile, depth = 0): string | null {
  if (expr.kind === "Call") return madeBy(expr, file);
  if (expr.kind === "Name") {
    const said = (definition: Definition): string | null => {
      const { how, value, node } = definition;
      if (how === "assign" && value?.kind === "Call") return madeBy(value, file);
      const handed = how === "unpack" && depth < 2 ? handedOutAs(definition, file) : null;
      if (handed) return instanceType(handed, file, depth + 1);
      if (how !== "param" || node.kind !== "Param") return null;
      // `def train(net, buffer: ReplayBuffer)`
      if (node.annotation) return className(file.dotted(node.annotation));
      return depth > 2 ? null : typeHandedIn(definition, file, depth);
    };
    // Of most names nobody says the class: those need no look at what reaches them.
    if (!file.scopes.lookup(expr)?.definitions.some((definition) => said(definition) !== null)) return null;
    // `net = DistributedDataParallel(net)` runs what it was given, and `net = net.to(device)` is what it was.
    const type = (definition: Definition): string | null => {
      const name = said(definition);
      const { how, value } = definition;
      if (value?.kind !== "Call" || depth > 2) return name;
      // `net, optimizer, epoch = resume(path, net, optimizer)` gives back what it was handed.
      const same = how === "unpack" ? value.args.find((arg) => isNamed(arg.value, definition.name)) : null;
      if (same) return instanceType(same.value, file, depth + 1);
      if (how !== "assign") return name;
      const inner =
        name === null
          ? movedByItself(bareCall(value))
          : WRAPPERS.test(name)
            ? bareCall(value).args[0]?.value
            : null;
      return inner?.kind === "Name" ? instanceType(inner, file, depth + 1) : name;
    };
    const [first, ...others] = file.scopes.reaching(expr);
    const made = first ? type(first) : null;
    return others.every((other) => type(other) === made) ? made : null;
  }
  if (expr.kind === "Subscript") return heldType(expr.value, file);
  const attribute = selfAttribute(expr);
  const cls = attribute === null ? null : enclosingClass(expr);
  const value = cls && attributesOf(cls, file).get(attribute!)?.writes[0]?.value;
  if (value?.kind === "Call") return madeBy(value, file);
  // `self.judge = judge` of `def __init__(self, judge: Judge)`
  return value?.kind === "Name" && depth < 2 ? instanceType(value, file, depth + 1) : null;
}

function isNamed(expr: Expr, name: string): boolean {
  return expr.kind === "Name" && expr.id === name;
}

/** `model` of `def train(model, rank)`, where all that this file hands in is of one class. */
function typeHandedIn(param: Definition, file: PythonFile, depth: number): string | null {
  if (param.node.parent?.parent?.kind !== "Module" || param.name === "self") return null;
  const [first, ...others] = handedIn(param, file, false).map((value) =>
    value.kind === "Name" ? instanceType(value, file, depth + 1) : null,
  );
  return first !== undefined && others.every((other) => other === first) ? first : null;
}

const SAMPLES = /^(?:sample(?:_\w+)?|(?:get|next|draw|fetch)_(?:\w+_)?batch|draw)$/;

/** The one class of the file that has such a method, for a replay buffer that is handed in: nobody says what it is. */
function samplerOf({ attr, value }: Attribute, file: PythonFile): string | null {
  if (!SAMPLES.test(attr) || !isHandedIn(value, file)) return null;
  const [cls, ...more] = file
    .all("ClassDef")
    .filter((one) => one !== enclosingClass(value) && methodsOf(one).some(({ name }) => name === attr));
  return cls && more.length === 0 ? file.qualified(cls) : null;
}

/** Whether a method that nobody here says the class of draws from a buffer that was handed in: the tree may know that class. */
export function drawsFromHanded(func: Expr, file: PythonFile): boolean {
  return func.kind === "Attribute" && SAMPLES.test(func.attr) && isHandedIn(func.value, file);
}

/** A parameter, or what `__init__` was given and kept on self. */
function isHandedIn(expr: Expr, file: PythonFile): boolean {
  if (expr.kind === "Name") {
    const definitions = file.scopes.reaching(expr);
    return definitions.length > 0 && definitions.every(({ how }) => how === "param");
  }
  const own = selfAttribute(expr);
  const cls = own === null ? null : enclosingClass(expr);
  const writes = cls ? (attributesOf(cls, file).get(own!)?.writes ?? []) : [];
  return writes.length > 0 && writes.every(({ value }) => value?.kind === "Name" && isHandedIn(value, file));
}

function enclosingClass(node: Node): ClassDef | null {
  for (let at: FunctionDef | Node | null = node; at; at = at.parent) if (at.kind === "ClassDef") return at;
  return null;
}
