import { isFalse } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { classOf, contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { localName } from "../imports.ts";
import { attributesOf, isSelf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isNetwork } from "./networks.ts";
import { callsOf } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { GRAPHLESS, last } from "./torch-names.ts";

/** What may be said of a function before it is told to record nothing: who gets its network, and what it hands back. */

/** By its name a network, whoever made it. */
const NETWORK =
  /^(?:\w+_)?(?:model|net|network|generator|gen|discriminator|critic|encoder|decoder|backbone|policy|actor|agent|classifier)$/i;

/** Libraries that differentiate nothing of what they are given, but for what `ASKS` names. */
const LIBRARIES =
  /^(?:torch|builtins|numpy|math|os|time|json|random|collections|itertools|functools|logging|tqdm|sklearn|torchmetrics|torchvision|torchaudio|einops)\./;

/** What is done with the gradients of an input. */
const ASKS =
  /adversar|attack|\b(?:atk|adv)\b|fgsm|\bpgd|perturb|saliency|grad_?cam|attribution|captum|foolbox|jacobian|hessian|\b[vj][jv]p\b|langevin|autograd(?!\.(?:profiler|Variable))|torch\.func\b/i;

/** What every network can do, and what by its name runs it. */
const METHODS =
  /^(?:eval|train|to|cuda|cpu|half|float|bfloat16|double|(?:named_)?(?:parameters|buffers|modules|children)|(?:load_)?state_dict|zero_grad|forward|generate|encode|decode|predict)$/;

/** What has no graph, whatever it was computed from. */
const CUT =
  /^(?:item|tolist|numpy|detach_?|data|shape|size|dim|ndim|numel|device|dtype|state_dict|eval|train|keys)$/;

const READS = /^builtins\.(?:float|int|bool|str|repr|len|round|range|print|isinstance|format|type|open|id)$/;

/** Containers that are given something of the function's. */
const FILLS = new Set(["append", "appendleft", "extend", "insert", "add", "update", "setdefault", "put"]);

/** "safe" where nothing that is called with the network is unknown code, and what is handed back has no graph to miss. */
export function gradeWithout(fn: FunctionDef, facts: Facts): "safe" | "unsafe" {
  if (ASKS.test(facts.file.codeOf(fn))) return "unsafe";
  const nets = networksOf(fn, facts);
  return sharesNetwork(fn, nets, facts, 0) || handsBack(fn, nets, facts, 0) || keepsForOthers(fn, nets, facts)
    ? "unsafe"
    : "safe";
}

/** Whether a caller in this file differentiates what the function hands back. */
export function isResultDifferentiated(fn: FunctionDef, facts: Facts): boolean {
  const sites = facts.backwards.length === 0 ? [] : callsOf(fn, facts.file);
  return sites.some((site) =>
    facts.backwards.some(
      ({ call, loss }) =>
        contains(call, site) || (loss !== null && isBehind(site, loss, facts.file, new Set())),
    ),
  );
}

/** What `torch.no_grad()` is called above a function; null where a decorator would not do, or another is meant by the name. */
export function decoratorWithout(fn: FunctionDef, facts: Facts): string | null {
  const { file } = facts;
  if (runsInTraining(fn, facts) || ASKS.test(file.codeOf(fn))) return null;
  // The coroutine runs when it is awaited, long after the decorator's own call.
  if (fn.async || fn.decorators.some((one) => /\bjit\b|script|compile|triton/.test(file.textOf(one))))
    return null;
  const torch = localName(file, "torch");
  const name = torch ?? "torch";
  for (let scope = file.scopes.scopeOf(fn), first = true; ; scope = scope.parent, first = false) {
    const bound = scope.bindings.get(name) ?? [];
    if (scope.parent === null)
      return bound.every(
        ({ how, node }) =>
          how === "import" &&
          (torch === null ? node.kind === "Alias" && /^torch\b/.test(file.importedName(node)) : true),
      ) &&
        (torch === null || bound.some(({ node }) => node.start < fn.start))
        ? `${name}.no_grad()`
        : null;
    if (bound.length > 0 && (first || scope.node.kind !== "ClassDef")) return null;
  }
}

/** `if train: net.train(); return net(x)`, beside what it does in eval mode: that run is recorded for somebody. */
function runsInTraining(fn: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  return file.callsNamed("train").some(({ func, args, start }) => {
    if (!contains(fn, func) || func.kind !== "Attribute" || isFalse(args[0]?.value ?? null)) return false;
    const net = file.textOf(func.value);
    return file
      .all("Call")
      .some((one) => one.start > start && contains(fn, one) && file.textOf(one.func) === net);
  });
}

/** The texts of what is switched or run as a network, `self` with them. */
function networksOf(fn: FunctionDef, facts: Facts): ReadonlySet<string> {
  const { file } = facts;
  const found = new Set(["self"]);
  for (const call of file.callsNamed("eval", "train"))
    if (call.func.kind === "Attribute" && call.args.length <= 1) found.add(file.textOf(call.func.value));
  for (const call of file.all("Call"))
    if (contains(fn, call) && isNetwork(call.func, facts))
      found.add(file.textOf(call.func).replace(/\.forward$/, ""));
  return found;
}

/** Whether code that is not seen here is handed the network, or an object that has it. */
function sharesNetwork(fn: FunctionDef, nets: ReadonlySet<string>, facts: Facts, depth: number): boolean {
  if (depth > 3) return true;
  const { file } = facts;
  return file.all("Call").some((call) => {
    if (!contains(fn, call) || fn.decorators.some((one) => contains(one, call))) return false;
    const { func } = call;
    const text = file.textOf(func);
    const owner = func.kind === "Attribute" ? func.value : null;
    const isRun = nets.has(text) || isNetwork(func, facts);
    const ofNetwork = owner !== null && (nets.has(file.textOf(owner)) || isNetwork(owner, facts));
    const given = call.args.some(({ value }) => holdsNetwork(value, fn, nets, facts));
    if (isRun && !given) return false;
    if (!given && !ofNetwork) return false;
    const name = file.dotted(func);
    if (name !== null && LIBRARIES.test(name) && !ASKS.test(name)) return false;
    const own = file.functionNamed(callTarget(call, file));
    if (own) return own !== fn && sharesNetwork(own, paramsToo(nets, own), facts, depth + 1);
    if (given || owner === null) return true;
    if (isSelf(owner)) return !isOwnPart(call, facts);
    return !METHODS.test(lastWord(func));
  });
}

/** `self.criterion(out, y)`, an object that this class was given; what it has from its base is a method, as likely as not. */
function isOwnPart(call: Call, { file }: Facts): boolean {
  const cls = classOf(call);
  const own = selfAttribute(call.func);
  return (
    cls !== null && own !== null && (own === "log" || attributesOf(cls, file).has(own) || METHODS.test(own))
  );
}

/** The network, something that was made with it, or a function that runs it; its result is not. */
function holdsNetwork(given: Expr, fn: FunctionDef, nets: ReadonlySet<string>, facts: Facts): boolean {
  const { file } = facts;
  let found = false;
  walk(given, (node) => {
    if (found) return false;
    const { parent } = node;
    if (
      (node.kind === "Name" || node.kind === "Attribute") &&
      !(parent?.kind === "Call" && parent.func === node)
    ) {
      const isOwner = parent?.kind === "Attribute" && node !== given;
      found =
        (!isOwner &&
          (nets.has(file.textOf(node)) ||
            facts.value(node).what === "module" ||
            NETWORK.test(lastWord(node)))) ||
        (node.kind === "Name" && isInner(node, fn, file)) ||
        isOwnMethod(node);
    }
    return !found;
  });
  return found;
}

/** A function that is defined within, and has the network around it. */
function isInner(name: Name, fn: FunctionDef, { scopes }: PythonFile): boolean {
  return scopes.reaching(name).some(({ how, node }) => how === "function" && contains(fn, node));
}

/** `self.score`, handed on as it is. */
function isOwnMethod(node: Node): boolean {
  const own = node.kind === "Attribute" ? selfAttribute(node) : null;
  const cls = own === null ? null : classOf(node);
  return cls !== null && methodsOf(cls).some(({ name }) => name === own);
}

/** What a function is given may be the network of whoever calls it. */
function paramsToo(nets: ReadonlySet<string>, fn: FunctionDef): ReadonlySet<string> {
  return new Set([
    ...nets,
    ...fn.params.map(({ name }) => name).filter((name) => /net|model|module/i.test(name)),
  ]);
}

/** Whether something that it returns may have a graph. */
function handsBack(fn: FunctionDef, nets: ReadonlySet<string>, facts: Facts, depth: number): boolean {
  return facts.file
    .all("Return")
    .some(
      (one) =>
        functionOf(one) === fn && one.value !== null && new Brought(fn, nets, facts, depth).by(one.value),
    );
}

/** `self.outputs.append(out)`, `results[name] = out`: what others read. */
function keepsForOthers(fn: FunctionDef, nets: ReadonlySet<string>, facts: Facts): boolean {
  const { file } = facts;
  const brought = new Brought(fn, nets, facts, 0);
  for (const at of [...file.all("Assign"), ...file.all("AugAssign")]) {
    if (functionOf(at) !== fn) continue;
    const targets = at.kind === "Assign" ? at.targets : [at.target];
    if (targets.some((one) => isOthers(one, fn, file)) && brought.by(at.value)) return true;
  }
  return file
    .callsNamed("append", "appendleft", "extend", "insert", "put")
    .some(
      ({ func, args }) =>
        functionOf(func) === fn &&
        func.kind === "Attribute" &&
        FILLS.has(func.attr) &&
        isOthers(func.value, fn, file) &&
        args.some(({ value }) => brought.by(value)),
    );
}

/** An attribute, or a name that is not made in the function. */
function isOthers(place: Expr, fn: FunctionDef, file: PythonFile): boolean {
  if (place.kind === "Tuple" || place.kind === "List")
    return place.items.some((one) => isOthers(one, fn, file));
  let root = place;
  while (root.kind === "Attribute" || root.kind === "Subscript") root = root.value;
  if (root.kind !== "Name") return true;
  const binding = file.scopes.lookup(root);
  if (!binding || binding.scope.node !== fn) return true;
  return place !== root && binding.definitions.some(({ how }) => how === "param");
}

/** Whether what a function computes may bring a graph; what is not known does. */
class Brought {
  readonly #fn: FunctionDef;
  readonly #nets: ReadonlySet<string>;
  readonly #facts: Facts;
  readonly #depth: number;
  readonly #names = new Map<string, boolean>();

  constructor(fn: FunctionDef, nets: ReadonlySet<string>, facts: Facts, depth: number) {
    this.#fn = fn;
    this.#nets = nets;
    this.#facts = facts;
    this.#depth = depth;
  }

  by(expr: Expr | null): boolean {
    if (!expr) return false;
    switch (expr.kind) {
      case "Num":
      case "Str":
      case "Const":
      case "Compare":
        return false;
      case "Name":
        return this.#byName(expr);
      case "Attribute":
        return !CUT.test(expr.attr) && selfAttribute(expr) === null && this.by(expr.value);
      case "Subscript":
      case "Starred":
      case "Await":
      case "Walrus":
        return this.by(expr.value);
      case "Binary":
        return this.by(expr.left) || this.by(expr.right);
      case "Unary":
        return expr.op !== "not" && this.by(expr.operand);
      case "Bool":
        return expr.values.some((one) => this.by(one));
      case "IfExp":
        return this.by(expr.body) || this.by(expr.orelse);
      case "Tuple":
      case "List":
      case "Set":
        return expr.items.some((one) => this.by(one));
      case "Dict":
        return expr.values.some((one) => this.by(one));
      case "Comp":
        return this.by(expr.element) || this.by(expr.value);
      case "Call":
        return this.#byCall(expr);
      default:
        return true;
    }
  }

  #byCall(call: Call): boolean {
    const { file } = this.#facts;
    const { func, args } = call;
    const name = file.dotted(func);
    const word = lastWord(func);
    if (name !== null ? READS.test(name) || isOfNumbers(name) : CUT.test(word) || GRAPHLESS.has(word))
      return false;
    if (name?.startsWith("torch.") && GRAPHLESS.has(last(name))) return false;
    if (this.#facts.gradMode(call) === "off") return false;
    if (this.#nets.has(file.textOf(func)) || isNetwork(func, this.#facts)) return true;
    const own = file.functionNamed(callTarget(call, file));
    if (own && own !== this.#fn)
      return (
        own.async ||
        this.#depth > 3 ||
        (args.some(({ value }) => this.by(value)) && !returnsCut(own, this.#facts)) ||
        handsBack(own, paramsToo(this.#nets, own), this.#facts, this.#depth + 1)
      );
    if (func.kind === "Attribute") {
      if (isSelf(func.value) && !isOwnPart(call, this.#facts)) return true;
      if (this.#nets.has(file.textOf(func.value)) && !isSelf(func.value))
        return !/^(?:named_)?parameters$|^to$|^cuda$/.test(word);
      if (name === null && this.by(func.value)) return true;
    }
    return args.some(({ value }) => this.by(value) || holdsNetwork(value, this.#fn, this.#nets, this.#facts));
  }

  #byName(name: Name): boolean {
    const { file } = this.#facts;
    const binding = file.scopes.lookup(name);
    // What is made outside is as it was.
    if (!binding || !contains(this.#fn, binding.scope.node)) return false;
    const known = this.#names.get(name.id);
    if (known !== undefined) return known;
    // Also the answer to itself, for `total = total + loss`.
    this.#names.set(name.id, false);
    const found =
      binding.definitions.some((one) => one.how !== "param" && this.#byDefinition(one)) ||
      this.#isFilled(name);
    this.#names.set(name.id, found);
    return found;
  }

  #byDefinition({
    how,
    index,
    node,
    value,
  }: {
    how: string;
    index: unknown;
    node: Node;
    value: Expr | null;
  }): boolean {
    if (/^(?:import|class|function|delete|except)$/.test(how)) return false;
    if (this.#facts.gradMode(node) === "off") return false;
    if (how === "unpack" && value?.kind === "Tuple" && typeof index === "number")
      return this.by(value.items[index] ?? value);
    return value === null ? how !== "with" : this.by(value);
  }

  /** `outs.append(out)`, `scores[name] = out` */
  #isFilled({ id }: Name): boolean {
    const { file } = this.#facts;
    const isIt = (place: Expr): boolean => {
      let root = place;
      while (root.kind === "Attribute" || root.kind === "Subscript") root = root.value;
      return root.kind === "Name" && root.id === id;
    };
    return (
      file
        .all("Call")
        .some(
          ({ func, args }) =>
            func.kind === "Attribute" &&
            FILLS.has(func.attr) &&
            contains(this.#fn, func) &&
            isIt(func.value) &&
            args.some(({ value }) => this.by(value)),
        ) ||
      [...file.all("Assign"), ...file.all("AugAssign")].some(
        (at) =>
          contains(this.#fn, at) &&
          (at.kind === "Assign" ? at.targets : [at.target]).some(
            (one) => one.kind !== "Name" && one.kind !== "Tuple" && isIt(one),
          ) &&
          this.by(at.value),
      )
    );
  }
}

/** Whether whatever it hands back, it has computed without recording, or cut off. */
function returnsCut(fn: FunctionDef, facts: Facts): boolean {
  const returned = facts.file.all("Return").filter((one) => functionOf(one) === fn);
  return returned.every(
    ({ value }) =>
      value === null ||
      facts.gradMode(value) === "off" ||
      (facts.value(value).graph === "no" && facts.value(value).what !== "container"),
  );
}

function isOfNumbers(name: string): boolean {
  return /^(?:numpy|math|os|time|json|random|sklearn|scipy|logging)\./.test(name);
}

/** Whether the value of an expression comes from a call, through the names of its function. */
function isBehind(site: Call, expr: Expr, file: PythonFile, seen: Set<Node>): boolean {
  if (contains(expr, site)) return true;
  let found = false;
  walk(expr, (node) => {
    if (node.kind !== "Name" || found) return !found;
    for (const { node: made, value } of file.scopes.reaching(node)) {
      if (seen.has(made) || !value) continue;
      seen.add(made);
      found ||= isBehind(site, value, file, seen);
    }
    return !found;
  });
  return found;
}
