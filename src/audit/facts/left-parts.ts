import { argument } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr, Name } from "../../python/tree.ts";
import { entry } from "./arguments.ts";
import { isSelf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { switches } from "./freezing.ts";
import { handedIn } from "./handed-in.ts";
import { isNetwork } from "./networks.ts";
import { makesOptimizer } from "./optimised.ts";

/** An optimizer that was given some parts of a network that is run as a whole. */
export interface PartsAlone {
  readonly at: Expr;
  readonly parts: readonly string[];
  /** The whole, as it is written. */
  readonly network: string;
}

const CLASSES = /^[A-Z]/;

/** Optimizers that many projects have a copy of. */
const COPIED = /^(?:LARS|Lars|LAMB|Lamb|Lion|Muon|Ranger|RAdam|AdaBelief)$/;

/**
 * `Adam([*net.neck.parameters(), *net.head.parameters()], lr=…)`, and `net(x)` is what is differentiated: who lists parts that
 * all learn alike leaves the others out, and nothing here freezes those. Groups with rates of their own may name all there is,
 * unless the class has more.
 */
export function* partsAlone(facts: Facts): Generator<PartsAlone> {
  const { file } = facts;
  // Most files make none: what costs more is asked of the others.
  const named = file.calls.matching(CLASSES);
  if (named.length === 0 || !file.says(/parameters\(|optim/i) || switches(file)) return;
  const made = named.filter((call) => makesOptimizer(call, file) || COPIED.test(lastWord(call.func)));
  for (const one of made) {
    // Another one beside it may have the rest; that of another function has a network of its own.
    const isBeside = (other: Call): boolean =>
      other !== one &&
      (functionOf(other) === functionOf(one) || classOf(one) !== null || functionOf(one) === null);
    const found = made.some(isBeside) ? null : partsOf(one, facts);
    if (found) yield found;
  }
}

function partsOf(made: Call, facts: Facts): PartsAlone | null {
  const { file } = facts;
  const given = argument(made, "params", 0);
  const { parts, inGroups } = given ? listedIn(given, file) : NOTHING;
  const [whole] = parts.map(wholeOf);
  if (!given || !whole || (parts.length === 1 && functionOf(given) === null)) return null;
  const network = file.textOf(whole);
  if (!parts.every((part) => file.textOf(wholeOf(part) ?? part) === network)) return null;
  const named = new Set(parts.map((part) => (part.kind === "Attribute" ? part.attr : "")));
  const all = facts.partsOf(whole);
  if (all.length > 0 && all.every((part) => named.has(part))) return null;
  if (inGroups && all.every((part) => named.has(part) || UNLEARNED.test(part))) return null;
  return isRunWhole(whole, given, facts)
    ? { at: given, parts: parts.map((part) => file.textOf(part)), network }
    : null;
}

/** What a class calls its parts that have nothing to learn. */
const UNLEARNED =
  /relu|act(?:ivation)?(?:_|$)|drop|pool|soft|sigmoid|tanh|flatten|upsampl|interp|loss|crit|ident|pad|metric|acc|token|augment|transform|sched|process/i;

/** What an optimizer is given: the networks whose parameters these are, and whether in groups with settings of their own. */
interface Listed {
  readonly parts: readonly Expr[];
  readonly inGroups: boolean;
}

const NOTHING: Listed = { parts: [], inGroups: false };

/**
 * `net.neck`, `net.head` of all that is asked for its parameters, also by lists that have names and are put together or grow.
 * Nothing where one of them cannot be read.
 */
function listedIn(given: Expr, file: PythonFile): Listed {
  const parts: Expr[] = [];
  const bare: Expr[] = [];
  const seen = new Set<Expr>();
  let groups = 0;
  const read = (expr: Expr): boolean => {
    if (seen.has(expr)) return true;
    seen.add(expr);
    switch (expr.kind) {
      case "Name":
        return valuesOf(expr, file)?.every(read) === true;
      case "List":
      case "Tuple":
        return expr.items.every(read);
      case "Starred":
        return read(expr.value);
      case "Binary":
        return expr.op === "+" && read(expr.left) && read(expr.right);
      case "Dict": {
        groups++;
        const group = entry(expr, "params");
        return group !== null && read(group);
      }
      // `net.scale`, a parameter by itself.
      case "Attribute":
        bare.push(expr);
        return true;
      default:
        return asked(expr);
    }
  };
  const asked = (expr: Expr): boolean => {
    walk(expr, (node) => {
      if (node.kind === "Dict") groups += 2;
      if (node.kind === "Attribute" && /^(?:named_)?parameters$/.test(node.attr))
        parts.push(...standsFor(node.value, file));
    });
    return true;
  };
  const readable = read(given);
  // `Adam([net.prompt], lr=…)`
  if (parts.length === 0 && given.kind === "List") parts.push(...bare);
  const isRead = readable && parts.every((part) => wholeOf(part) !== null && file.dotted(part) === null);
  return isRead ? { parts, inGroups: groups > 1 } : NOTHING;
}

/** `net.head` of `head = net.head`, and `net.neck`, `net.head` of `for part in [net.neck, net.head]`. */
function standsFor(part: Expr, file: PythonFile): readonly Expr[] {
  const [one, ...more] = part.kind === "Name" ? file.scopes.reaching(part) : [];
  const value = more.length === 0 ? (one?.value ?? null) : null;
  if (one?.how === "assign") return value && wholeOf(value) ? [value] : [part];
  const over = one?.how === "iterate" && value?.kind === "Name" ? file.scopes.onlyValue(value) : value;
  // `for block in net.blocks[-2:]`
  const cut = over?.kind === "Subscript" && over.index.kind === "Slice" ? over.value : null;
  const listed =
    one?.how !== "iterate"
      ? []
      : over?.kind === "List" || over?.kind === "Tuple"
        ? over.items
        : cut && wholeOf(cut)
          ? [cut]
          : [];
  return listed.length > 0 ? listed : [part];
}

/** What a list is begun with, and what is added to it: `groups = [a]`, `groups += [b]`, `groups.append(c)`; null where anything else may be in it. */
function valuesOf(name: Name, file: PythonFile): readonly Expr[] | null {
  const definitions = file.scopes.lookup(name)?.definitions ?? [];
  const begun = definitions.flatMap(({ how, value }) =>
    (how === "assign" || how === "augment") && value ? [value] : [],
  );
  if (begun.length === 0 || begun.length < definitions.length) return null;
  const added = definitions
    .flatMap((definition) => file.scopes.uses(definition))
    .flatMap(({ parent }) =>
      parent?.kind === "Attribute" &&
      /^(?:append|extend|insert)$/.test(parent.attr) &&
      parent.parent?.kind === "Call"
        ? parent.parent.args.slice(-1).map(({ value }) => value)
        : [],
    );
  return [...begun, ...added];
}

/** `net` of `net.head` and of `net.module.head`, `self.net` of `self.net.head`; what was wrapped is a whole itself, `net.module`. */
function wholeOf(part: Expr): Expr | null {
  const of = part.kind === "Attribute" && part.attr !== "module" ? part.value : fetchedFrom(part);
  const value = of?.kind === "Attribute" && of.attr === "module" ? of.value : of;
  return (value?.kind === "Name" && !isSelf(value)) || (value && selfAttribute(value) !== null)
    ? value
    : null;
}

/** `net` of `getattr(net.module if parallel else net, "head")`. */
function fetchedFrom(part: Expr): Expr | null {
  const isFetched = part.kind === "Call" && part.func.kind === "Name" && part.func.id === "getattr";
  const of = isFetched ? part.args[0]?.value : null;
  return of?.kind === "IfExp" ? of.orelse : (of ?? null);
}

/**
 * Differentiated as a whole: in this function's loop, in a step of this class, by a function that is handed it, or by who has
 * the optimizer made, `optimizer = build(net, rate)`.
 */
function isRunWhole(whole: Expr, given: Expr, facts: Facts): boolean {
  const [param, ...more] = whole.kind === "Name" ? facts.file.scopes.reaching(whole) : [];
  const handed = param && more.length === 0 && isHandedBack(given) ? handedIn(param, facts.file, true) : [];
  return isRunNear(whole, given, facts) || handed.some((net) => isRunNear(net, given, facts, net));
}

/** `return Adam(parts, lr=rate)` */
function isHandedBack(given: Expr): boolean {
  const made = given.parent?.kind === "Arg" ? given.parent.parent : null;
  return made?.parent?.kind === "Return";
}

function isRunNear(whole: Expr, given: Expr, facts: Facts, at: Expr = given): boolean {
  const { file } = facts;
  const names = new Set([file.textOf(whole), ...aliasesOf(whole, file), ...wrappersOf(whole, file)]);
  const own = selfAttribute(whole) !== null;
  const isIt = (expr: Expr): boolean => names.has(file.textOf(expr));
  const isNear = (call: Call): boolean =>
    own ? classOf(call) === classOf(at) : functionOf(call) === functionOf(at);
  return file.all("Call").some((call) => {
    if (!isNear(call) || facts.gradMode(call) === "off") return false;
    if (isIt(call.func))
      return (
        isNetwork(call.func, facts) &&
        (own ? facts.hot(call) !== null : facts.stepLoop(call) !== null) &&
        !isIt(given)
      );
    if (own || !call.args.some(({ value }) => isIt(value))) return false;
    return facts.callee(call)?.reachesBackward === true || isGivenBoth(call, given, facts);
  });
}

/** What trains a network by an optimizer, in a file that need not be here. */
const TRAINS = /train|learner|runner|engine|solver|distill|^fit/i;

/** `ClassifierTrainer(net, optimizer, loss)`: who is handed the whole, and the optimizer of its part, trains the whole by that. */
function isGivenBoth(call: Call, given: Expr, { file }: Facts): boolean {
  const made = given.parent?.kind === "Arg" ? given.parent.parent : null;
  const [target] = made?.parent?.kind === "Assign" ? made.parent.targets : [];
  return (
    target?.kind === "Name" &&
    TRAINS.test(lastWord(call.func)) &&
    !/(?:Args|Arguments|Config)$/.test(lastWord(call.func)) &&
    call.args.some(({ value }) => file.textOf(value) === target.id)
  );
}

/** `net_without_ddp = net`, `net_without_ddp = net.module`: one network by two names. */
function aliasesOf(whole: Expr, file: PythonFile): readonly string[] {
  const definitions = whole.kind === "Name" ? (file.scopes.lookup(whole)?.definitions ?? []) : [];
  return definitions.flatMap(({ how, value }) => {
    const of = value?.kind === "Attribute" && value.attr === "module" ? value.value : value;
    return how === "assign" && of?.kind === "Name" ? [of.id] : [];
  });
}

/** `parallel` of `parallel = DistributedDataParallel(net)`, and of `parallel, opt = accelerator.prepare(net, opt)`. */
function wrappersOf(whole: Expr, file: PythonFile): readonly string[] {
  const name = file.textOf(whole);
  const isNear = (value: Expr): boolean =>
    selfAttribute(whole) === null
      ? functionOf(value) === functionOf(whole)
      : classOf(value) === classOf(whole);
  return file.all("Assign").flatMap(({ targets: [target], value }) => {
    if (value.kind !== "Call" || !WRAPS.test(lastWord(value.func)) || !isNear(value)) return [];
    const at = value.args.findIndex((arg) => file.textOf(arg.value) === name);
    const wrapper = target?.kind === "Tuple" ? target.items[at] : at === 0 ? target : null;
    return at >= 0 && wrapper ? [file.textOf(wrapper)] : [];
  });
}

const WRAPS = /^(?:\w*DataParallel|DDP|FSDP|compile|prepare|setup)$/;
