import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, blockOf, classOf, statementOf } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Arg, Call, ClassDef, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { selfAttribute, attributesOf } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isBoundBy, loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";
import { isTrue, keyword } from "../../python/file.ts";
import { isNetwork } from "./networks.ts";
import { returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { assignsOfKind } from "./assigns.ts";

/** What a state is called that a network hands from one step to the next. */
export const STATE =
  /hidden|recurrent|(?:^|_)hxs$|^_?(?:hid|h|c|hx|cx|h_?[0nt]|c_?[0nt]|hc)$|^(?:val|eval|test|enc|dec|prev|last|init|new|next)_(?:h|c|hx|cx|hid)$|^(?:\w+_)?states?$|^mems?$|memory|carry|^(?:ctx|context)$/;

/** `hidden.detach()`, `hidden = hidden.data`, `repackage_hidden(hidden)` */
export function isCutOff(name: string, within: Node, file: PythonFile): boolean {
  return (
    file.once(mayCutOff) &&
    new RegExp(
      `\\b${name}\\b[^\\n]*\\.(?:detach|data\\b)|\\.(?:detach\\(\\)|data) for \\w+ in ${name}\\b|(?:detach|repackage|Variable)\\w*\\([^)\\n]*\\b${name}\\b`,
    ).test(file.codeOf(within))
  );
}

/** Whether one of its words is anywhere in the file: in most it is not. */
const mayCutOff = (file: PythonFile): boolean =>
  ["detach", ".data", "repackage", "Variable"].some((word) => file.mentions(word));

/** `def forward(self, x, hidden)` that begins with `hidden = hidden.detach()`: who hands it on need not cut it off. */
export function cutsOffState(fn: FunctionDef, file: PythonFile): boolean {
  return fn.name === "forward" && fn.params.some(({ name }) => STATE.test(name) && isCutOff(name, fn, file));
}

/** `hidden = new_hidden`, of what the call returned; also `h, c = new_hidden` and then `hidden = (h, c)`. */
export function isRenamed({ how, value }: Definition, statement: Node, facts: Facts, depth = 0): boolean {
  if ((how !== "assign" && how !== "unpack") || depth > 3) return false;
  return (value ? partsOf(value) : []).some((part) => {
    // `state = outputs.state`
    let at = part;
    while (at.kind === "Attribute" || at.kind === "Subscript") {
      // `h = h.data` is cut off.
      if (at.kind === "Attribute" && at.attr === "data") return false;
      at = at.value;
    }
    return (
      at.kind === "Name" &&
      facts.file.scopes
        .reaching(at)
        .some((one) => contains(statement, one.node) || isRenamed(one, statement, facts, depth + 1))
    );
  });
}

/** The attribute of `self.state`, and of `self.states[i]` of several layers. */
export function ownState(expr: Expr): string | null {
  return selfAttribute(expr.kind === "Subscript" ? expr.value : expr);
}

/** `self.states` of `self.states.get(key)`. */
export function lookedUp(expr: Expr): Expr {
  return expr.kind === "Call" && expr.func.kind === "Attribute" && expr.func.attr === "get"
    ? expr.func.value
    : expr;
}

/** The state in `tuple(hidden)`, `[h.clone() for h in hidden]`, `(hidden[0].to(device), hidden[1])`: the same, with its graph, in new hands. */
export function rewrapped(expr: Expr, name: string, file: PythonFile): Name | null {
  switch (expr.kind) {
    case "Call": {
      const { func, args } = expr;
      const [first, ...more] = args;
      if (/^builtins\.(?:tuple|list)$/.test(file.dotted(func) ?? ""))
        return first && more.length === 0 ? wrapped(first.value, name, file) : null;
      return func.kind === "Attribute" && SAME_GRAPH.test(func.attr) ? wrapped(func.value, name, file) : null;
    }
    case "Tuple":
    case "List": {
      const within = expr.items.map((item) => wrapped(item, name, file));
      return within.every((one) => one !== null) ? (within[0] ?? null) : null;
    }
    case "Comp": {
      const [clause, ...more] = expr.clauses;
      if (clause?.target.kind !== "Name" || clause.tests.length > 0 || more.length > 0) return null;
      return wrapped(expr.element, clause.target.id, file) ? wrapped(clause.iter, name, file) : null;
    }
    default:
      return null;
  }
}

/** The name itself, an entry of it, or a rewrapping of these. */
function wrapped(expr: Expr, name: string, file: PythonFile): Name | null {
  const bare = expr.kind === "Subscript" ? expr.value : expr;
  return bare.kind === "Name" ? (bare.id === name ? bare : null) : rewrapped(expr, name, file);
}

/** What hands a tensor on with its graph. */
const SAME_GRAPH = /^(?:clone|contiguous|to|cuda|float|half|type_as)$/;

/** `self.state = (h, c)` below `out, (h, c) = self.lstm(x, self.state)`. */
export function keptBelow(target: Expr, statement: Node, facts: Facts): (string | null)[] {
  const names = new Set(partsOf(target).flatMap((part) => (part.kind === "Name" ? [part.id] : [])));
  const fn = functionOf(statement);
  if (names.size === 0) return [];
  return facts.file
    .all("Assign")
    .filter(
      (one) =>
        one.start > statement.end &&
        functionOf(one) === fn &&
        partsOf(one.value).every((part) => part.kind === "Name" && names.has(part.id)),
    )
    .map((one) => ownState(one.targets[0]!));
}

/** The state in `h.to(x.device)`, `h * mask`, `h if h is not None else None`, `h or begin(x)` and, of the loop's counter, `h if i > 0 else None`. */
export function handedOn(expr: Expr, loop: Loop | null = null, file: PythonFile | null = null): Expr {
  if (expr.kind === "Call")
    return expr.func.kind === "Attribute" && /^(?:to|cuda|type_as|contiguous)$/.test(expr.func.attr)
      ? handedOn(expr.func.value, loop, file)
      : expr;
  // Zeroed for those that are done, it is still what the steps before made of it.
  if (expr.kind === "Binary" && expr.op === "*") return [expr.left, expr.right].find(isNamedState) ?? expr;
  if (expr.kind === "Bool") return expr.op === "or" && isState(expr.values[0]!) ? expr.values[0]! : expr;
  if (expr.kind !== "IfExp") return expr;
  const { test, body, orelse } = expr;
  if (isState(body) && saysCarried(body, test, true, loop, file)) return body;
  return isState(orelse) && saysCarried(orelse, test, false, loop, file) ? orelse : expr;
}

/** Whether a state is taken on all turns but the first; any other test may have it begun anew as often as not. */
function saysCarried(
  state: Expr,
  test: Expr,
  when: boolean,
  loop: Loop | null,
  file: PythonFile | null,
): boolean {
  if (test.kind === "Unary" && test.op === "not") return saysCarried(state, test.operand, !when, loop, file);
  if (isSame(test, state)) return when;
  if (test.kind !== "Compare" || test.rights.length !== 1) return false;
  const [op] = test.ops;
  const right = test.rights[0]!;
  if (isSame(test.left, state))
    return right.kind === "Const" && right.value === null && op === (when ? "is not" : "is");
  return (
    right.kind === "Num" &&
    right.text === "0" &&
    (when ? op === ">" || op === "!=" : op === "==") &&
    test.left.kind === "Name" &&
    loop !== null &&
    file !== null &&
    isBoundBy(loop, test.left, file)
  );
}

function isState(expr: Expr): boolean {
  return expr.kind === "Name" || selfAttribute(expr) !== null;
}

/** `hidden`, `self.memory` */
function isNamedState(expr: Expr): boolean {
  return STATE.test(expr.kind === "Name" ? expr.id : (selfAttribute(expr) ?? ""));
}

/** The same name, or the same attribute of self. */
function isSame(one: Expr, other: Expr): boolean {
  return one.kind === "Name"
    ? other.kind === "Name" && one.id === other.id
    : selfAttribute(one) !== null && selfAttribute(one) === selfAttribute(other);
}

export function partsOf(expr: Expr): readonly Expr[] {
  return expr.kind === "Tuple" || expr.kind === "List" ? expr.items.flatMap(partsOf) : [expr];
}

/** The same place, or the name of all places that it is one of: `states = [None] * layers`. */
export function isSamePlace(to: Expr, part: Expr, file: PythonFile): boolean {
  return (
    file.textOf(to) === file.textOf(part) ||
    (to.kind === "Name" && part.kind === "Subscript" && part.value.kind === "Name" && part.value.id === to.id)
  );
}

/** `hidden` of `state["hidden"]` and of `run.hidden`, `states` of `states[i]`; what is on self is told of elsewhere. */
export function placeOf(expr: Expr): string | null {
  if (expr.kind === "Subscript")
    return expr.value.kind === "Name" ? (expr.index.kind === "Str" ? expr.index.value : expr.value.id) : null;
  return expr.kind === "Attribute" && expr.value.kind === "Name" && expr.value.id !== "self"
    ? expr.attr
    : null;
}

/** Whether a function of this file that is called keeps the graph after its backward, or one that it calls does. */
export function retainsGraph(call: Call, { backwards, file }: Facts): boolean {
  const kept = backwards.filter((one) => isTrue(keyword(one.call, "retain_graph")?.value ?? null));
  const seen = new Set<Node>();
  const isKeptBy = (target: string | null): boolean => {
    const fn = file.functionNamed(target);
    if (!fn || seen.has(fn)) return false;
    seen.add(fn);
    return (
      kept.some((one) => functionOf(one.call) === fn) ||
      file.all("Call").some((one) => functionOf(one) === fn && isKeptBy(callTarget(one, file)))
    );
  };
  return kept.length > 0 && isKeptBy(callTarget(call, file));
}

export function isGiven({ args }: Call, name: string): boolean {
  return args.some(({ value }) => {
    const part = handedOn(value);
    return part.kind === "Name" && part.id === name;
  });
}

/**
 * The network whose state a function of this file returns at a position, with nothing cut off in between: as the network gave
 * it, or as another function of this file did, `loss, cache = one_chunk(net, x, cache)`.
 */
export function handedBack(
  call: Call,
  at: number,
  retained: boolean,
  facts: Facts,
  seen: ReadonlySet<string> = new Set(),
): Expr | null {
  const { file } = facts;
  const target = callTarget(call, file);
  if (target === null || seen.has(target)) return null;
  const [one, ...more] = file.once(returnsByName).get(target) ?? [];
  const item = one?.kind === "Tuple" && more.length === 0 ? one.items[at] : null;
  if (item?.kind !== "Name" || isCutOff(item.id, functionOf(item) ?? item, file)) return null;
  const runs = file.scopes.reaching(item).filter(({ how }) => how !== "param");
  // Who keeps the graph carries it by any of several ways.
  if (!retained && !runs.every(({ value }) => value === runs[0]!.value)) return null;
  // Not one that the step has begun itself.
  const isHandedIn = ({ args }: Call): boolean =>
    args
      .map(({ value }) => handedOn(value))
      .some(
        (value) =>
          value.kind === "Name" &&
          (STATE.test(value.id) || (retained && value.id === item.id)) &&
          file.scopes.reaching(value).some(({ how }) => how === "param"),
      );
  for (const { value: made } of runs) {
    const value = made && callBehind(made, file);
    if (value?.kind !== "Call" || !isHandedIn(value) || facts.gradMode(value) === "off") continue;
    if (isNetwork(value.func, facts)) return value.func;
    const [parts] = value.parent?.kind === "Assign" ? value.parent.targets : [];
    const place =
      parts?.kind === "Tuple"
        ? parts.items.findIndex((part) => part.kind === "Name" && part.id === item.id)
        : -1;
    const network = place < 0 ? null : handedBack(value, place, retained, facts, new Set([...seen, target]));
    if (network) return network;
  }
  return null;
}

/** `net(x, cache)` of `out.cache` and `out["cache"]`, where `out = net(x, cache)`. */
function callBehind(value: Expr, { scopes }: PythonFile): Expr {
  const whole = value.kind === "Attribute" || value.kind === "Subscript" ? value.value : null;
  const [one, ...more] = whole?.kind === "Name" ? scopes.reaching(whole) : [];
  return one?.how === "assign" && more.length === 0 && one.value?.kind === "Call" ? one.value : value;
}

/** `if done: h = zeros(…)` at the beginning of a turn, with no `else: h = h.detach()`. */
export function begunUnderTest(
  definitions: readonly Definition[],
  carried: Definition,
  loop: Node,
  file: PythonFile,
): Node | null {
  const [inside] = loopsAround(carried.node);
  const others = definitions.filter((one) => one !== carried);
  // Only a loop of its own carries it through one turn of the other.
  if (!inside || inside === loop || others.length === 0) return null;
  const texts = others.map(({ value }) => (value ? file.textOf(value) : ""));
  if (texts.some((text) => /detach|\.data\b/.test(text))) return null;
  const fresh = others.filter((_, at) => !new RegExp(`\\b${carried.name}\\b`).test(texts[at]!));
  const [first] = fresh;
  if (!first || fresh.length > 1 || contains(inside, first.node)) return null;
  for (let at = first.node.parent; at && at !== loop; at = at.parent) if (at.kind === "If") return first.node;
  return null;
}

/**
 * `memory = self.memory`, `out, memory = self.cell(part, memory)`, and `self.memory = memory` for the next forward: of a module
 * that begins it in no method of its own and cuts it off nowhere. Also `h, c = self.memory` and `self.memory = (h, c)`.
 */
export function* throughName(facts: Facts): Generator<{ readonly at: Node; readonly own: string }> {
  const { file } = facts;
  for (const statement of facts.guesses ? [] : assignsOfKind("Attribute", file)) {
    const [target] = statement.targets;
    const own = target ? selfAttribute(target) : null;
    if (own === null || !STATE.test(own) || /cache|past|kv/i.test(own)) continue;
    const kept = namesOf(statement.value);
    const method = kept === null ? null : functionOf(statement);
    const cls = method ? classOf(statement) : null;
    if (!kept || !cls || method?.kind !== "FunctionDef" || facts.role(cls) !== "module") continue;
    if (!isOfForward(method, cls, facts) || facts.gradMode(statement) === "off") continue;
    if (facts.frequency(statement, method) !== "every") continue;
    if (kept.some(({ id }) => isCutOff(id, method, file))) continue;
    if (new RegExp(`self\\.${own}\\b[^\\n]*(?:detach|\\.data\\b)`).test(file.codeOf(cls))) continue;
    const writes = attributesOf(cls, file).get(own)?.writes ?? [];
    if (writes.some(({ in: within }) => within !== method && within.name !== "__init__")) continue;
    const isCarried = kept.some((name) => {
      const made = (file.scopes.lookup(name)?.definitions ?? []).filter(({ node }) => contains(method, node));
      const isRead = made.some(
        ({ how, value }) =>
          (how === "assign" || how === "unpack") && value !== null && selfAttribute(handedOn(value)) === own,
      );
      const isGivenOn = ({ value }: Arg): boolean =>
        partsOf(value).some((part) => part.kind === "Name" && part.id === name.id);
      const isRunOn = ({ how, value, node, index }: Definition, depth: number): boolean => {
        if ((how !== "assign" && how !== "unpack") || facts.gradMode(node) === "off") return false;
        // `state, context = later, found`, of what the layer has handed back as `later`.
        const given = value?.kind === "Tuple" && how === "unpack" ? value.items[index ?? -1] : value;
        if (given?.kind === "Name" && depth < 2)
          return file.scopes.reaching(given).some((one) => isRunOn(one, depth + 1));
        return given?.kind === "Call" && selfAttribute(given.func) !== null && given.args.some(isGivenOn);
      };
      return isRead && made.some((one) => isRunOn(one, 0));
    });
    if (isCarried) yield { at: target!, own };
  }
}

/** `state`, and `h` and `c` of `(h, c)`; null of anything else. */
function namesOf(kept: Expr): readonly Name[] | null {
  const parts = partsOf(kept);
  return parts.every((part): part is Name => part.kind === "Name") ? parts : null;
}

/** `_forward`, which a base class has `forward` choose by its name, or a method that the class's own `forward` always calls. */
function isOfForward(method: FunctionDef, cls: ClassDef, facts: Facts): boolean {
  if (/^_*forward$/.test(method.name)) return true;
  return facts.file.callsNamed(method.name).some((call) => {
    const fn = selfAttribute(call.func) === method.name ? functionOf(call) : null;
    return (
      fn?.kind === "FunctionDef" &&
      fn.name === "forward" &&
      classOf(call) === cls &&
      facts.frequency(call, fn) === "every" &&
      facts.gradMode(call) !== "off"
    );
  });
}

/** Whether whatever comes to a read has come by a write: it stands above it, in a block around it. */
export function isAbove(write: Node, read: Node): boolean {
  const statement = statementOf(write);
  return (
    statement !== null &&
    statement.end <= read.start &&
    (blockOf(statement) ?? []).some((one) => one.start > statement.start && contains(one, read))
  );
}

/** `state, feature = rssm(obs, state)`: by its name, and by what is done with it. */
export function handsState({ func, args, parent }: Call): boolean {
  if (func.kind !== "Name" || parent?.kind !== "Assign" || parent.targets.length !== 1) return false;
  const names = new Set(
    partsOf(parent.targets[0]!).flatMap((item) =>
      item.kind === "Name" && STATE.test(item.id) ? [item.id] : [],
    ),
  );
  return (
    names.size > 0 &&
    args.map(({ value }) => handedOn(value)).some((value) => value.kind === "Name" && names.has(value.id))
  );
}
