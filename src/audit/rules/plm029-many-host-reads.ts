import type { PythonFile } from "../../python/file.ts";
import {
  ancestors,
  blockOf,
  classOf,
  contains,
  functionOf,
  lastWord,
  namesIn,
  statementOf,
} from "../../python/nodes.ts";
import type { Call, Comp, Expr, For, Node, NodeOf, Stmt } from "../../python/tree.ts";
import { localName } from "../imports.ts";
import { attributesOf, selfAttribute } from "../facts/classes.ts";
import { defaultOf } from "../facts/behind-options.ts";
import { everyUpdate } from "../facts/updates.ts";
import type { Facts, Hot } from "../facts/facts.ts";
import { isOtherBranch } from "../facts/guards.ts";
import { isReadOffNetwork } from "../facts/networks.ts";
import { isOnHost } from "../facts/likely-numbers.ts";
import { loopsAround } from "../facts/training.ts";
import { isThrottle } from "../facts/turns.ts";
import type { Fix, Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM029",
    name: "many-host-reads",
    summary: "Several device scalars are read one by one where one transfer would do",
    severity: "note",
    fix: "unsafe",
    patterns: [29],
    hotOnly: true,
  },
  *check(facts) {
    const groups = new Map<Node, Call[]>();
    for (const call of facts.file.callsNamed("item", "float", "numpy")) {
      const hot = readsScalar(call, facts) ? oftenHot(call, facts) : null;
      if (!hot || isOneOfEach(call, facts)) continue;
      const group = groups.get(hot.within);
      if (group) group.push(call);
      else groups.set(hot.within, [call]);
    }
    // Beside those, what nobody knows the make of, or the device, is read the same way.
    for (const call of facts.file.callsNamed("item")) {
      if (call.func.kind !== "Attribute" || call.args.length > 0 || groups.size === 0) continue;
      const { what, device } = facts.value(call.func.value);
      if (what !== "unknown" && !(what === "tensor" && device === "unknown")) continue;
      if (readsScalar(call, facts)) continue;
      if (isOfNumPy(call.func.value, facts)) continue;
      const hot = oftenHot(call, facts);
      if (hot) groups.get(hot.within)?.push(call);
    }
    // One after the other, each is a round trip; the second already finds an empty queue.
    for (const group of [...groups.values()].flatMap(clusters)) {
      const fix = together(group[0]!, facts);
      yield {
        at: group[0]!,
        message: `${group.length} scalars are read one after the other here, a round trip each; \`torch.stack([...]).tolist()\` is one`,
        ...(fix ? { fix } : {}),
      };
    }
    const loops = new Set<Node>();
    for (const call of facts.file.callsNamed("item", "float")) {
      const loop = facts.guesses ? innerLoop(call, facts) : null;
      if (loop && (decidesLoop(call) || isSentBelow(call, facts))) continue;
      if (!readsInLoop(call, facts) && (!loop || loops.has(loop) || !isLikelyRead(call, facts))) continue;
      if (loop) loops.add(loop);
      yield {
        at: call,
        message: "Every value is read by itself, a round trip each; `torch.stack([...]).tolist()` is one",
      };
    }
    for (const call of facts.file.callsNamed("map"))
      if (mapsFloat(call, facts) && facts.everyStep(call))
        yield {
          at: call,
          message: "Every value is read by itself, a round trip each; `torch.stack([...]).tolist()` is one",
        };
    for (const comp of facts.file.all("Comp"))
      if (!loops.has(comp) && readsEachTensor(comp, facts))
        yield {
          at: comp,
          message: "Every value is read by itself, a round trip each; `torch.stack([...]).tolist()` is one",
        };
  },
};

/** Hot, but not under `if step % 1000 == 0:`, where a few round trips are nothing. */
function oftenHot(call: Call, facts: Facts): Hot | null {
  const hot = facts.hot(call);
  return hot &&
    (facts.frequency(call, hot.within) !== "throttled" ||
      everyUpdate(call, facts) ||
      isOfEachTurn(call, hot.within, facts))
    ? hot
    : null;
}

/** Under `if step % log_interval == 0:` of an interval that is 1 unless somebody sets another. */
function isOfEachTurn(call: Call, within: Node, facts: Facts): boolean {
  let found = false;
  for (let child: Node = call, at = call.parent; at && at !== within; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const tests = at.test.kind === "Bool" && at.test.op === "and" ? at.test.values : [at.test];
    for (const test of tests) {
      if (!isThrottle(test)) continue;
      if (!at.body.includes(child as never) || !isByOne(test, facts)) return false;
      found = true;
    }
  }
  return found;
}

/** `step % interval == 0`, `not step % interval`, with `interval = 1` above, or as an option's default. */
function isByOne(test: Expr, { file, project }: Facts): boolean {
  const left =
    test.kind === "Compare" && test.ops[0] === "=="
      ? test.left
      : test.kind === "Unary" && test.op === "not"
        ? test.operand
        : null;
  const by = left?.kind === "Binary" && left.op === "%" ? left.right : null;
  return by !== null && (isOne(by, file) || defaultOf(by, file, project) === 1);
}

/** A name for 1, a parameter that is 1 where nobody says otherwise, or an attribute that such a one is kept as. */
function isOne(expr: Expr, file: PythonFile): boolean {
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls) {
    const writes = attributesOf(cls, file).get(own!)?.writes ?? [];
    return writes.length > 0 && writes.every(({ value }) => value !== null && isOne(value, file));
  }
  if (expr.kind === "Num") return expr.text === "1";
  const [made, ...more] = expr.kind === "Name" ? file.scopes.reaching(expr) : [];
  if (!made || more.length > 0) return false;
  if (made.how === "assign") return made.value?.kind === "Num" && made.value.text === "1";
  return (
    made.node.kind === "Param" &&
    made.node.default?.kind === "Num" &&
    made.node.default.text === "1" &&
    file.calls.given([made.name]).length === 0
  );
}

/** `[scores[labels == c].mean().item() for c in range(n)]`, `for c in range(n): …`: the loop in the step that a read is repeated by. */
function innerLoop(call: Call, facts: Facts): Node | null {
  const within = facts.everyStep(call)?.within;
  if (!within) return null;
  for (let child: Node = call, at = call.parent; at && at !== within; child = at, at = at.parent) {
    if (at.kind === "FunctionDef" || at.kind === "Lambda") return null;
    if (at.kind === "Comp" && at.clauses.every(({ iter }) => iter !== child)) return at;
    if ((at.kind === "For" && child !== at.iter && !facts.stepLoops.has(at)) || at.kind === "While")
      return facts.frequency(call, at) === "every" && !/load|batch|epoch/i.test(loopText(at, facts))
        ? at
        : null;
  }
  return null;
}

/** `left = mask.sum().item()`, `if left == 0: break`: the next turn has to know it. */
function decidesLoop(call: Call): boolean {
  const statement = statementOf(call);
  const block = statement && blockOf(statement);
  if (statement?.kind !== "Assign" || !block || statement.targets[0]?.kind !== "Name") return false;
  const { id } = statement.targets[0];
  return block
    .slice(block.indexOf(statement) + 1)
    .some(
      (one) =>
        one.kind === "If" &&
        /^(?:Break|Return)$/.test(one.body.at(-1)?.kind ?? "") &&
        namesIn(one.test).some((name) => name.id === id),
    );
}

/** `(index == i).sum().item()`, and `index.to(device)` below: until then it is on the host. */
function isSentBelow(call: Call, { file }: Facts): boolean {
  if (call.func.kind !== "Attribute") return false;
  return namesIn(call.func.value).some(({ id, end }) =>
    new RegExp(`(?<![\\w.])${id}\\.(?:to|cuda)\\(`).test(file.text.slice(end, functionOf(call)?.end ?? end)),
  );
}

const NAMES = /(?:^|_)(?:names?|keys?)$/;

/** `names` of `names[i]`, `x` of `x.mean()`. */
function namedBy(expr: Expr): string {
  const base = baseOf(expr);
  return lastWord(base.kind === "Subscript" ? base.value : base);
}

/** What a loop goes over, or asks. */
const loopText = (loop: NodeOf<"For" | "While">, { file }: Facts): string =>
  file.textOf(loop.kind === "For" ? loop.iter : loop.test);

/** `x.item()` of what NumPy has not made, `float(x)` of what is on the device. */
function isLikelyRead(call: Call, facts: Facts): boolean {
  if (call.func.kind === "Attribute") {
    if (call.func.attr !== "item" || call.args.length > 0) return false;
    const { what, device } = facts.value(call.func.value);
    return what === "unknown"
      ? facts.accelerator &&
          !isOnHost(call.func.value, facts.file) &&
          !NAMES.test(namedBy(call.func.value)) &&
          !isOfNumPy(call.func.value, facts)
      : device !== "cpu" && facts.onAccelerator(call.func.value);
  }
  return readsScalar(call, facts);
}

/** What is told of all the values of a loop, or of a comprehension, is no scalar beside others. */
function isOneOfEach(call: Call, facts: Facts): boolean {
  const comp = ancestors(call).find((at) => at.kind === "Comp");
  return (
    readsInLoop(call, facts) ||
    (comp !== undefined && readOfEach(comp) === call && readsEachTensor(comp, facts))
  );
}

function readsEachTensor(comp: Comp, facts: Facts): boolean {
  const read = readOfEach(comp);
  return read !== null && facts.everyStep(comp) !== null && areTensors(comp, read, facts);
}

/** Reads in one statement, or in statements one after the other; and what is scattered over the rest of the step. */
function clusters(reads: readonly Call[]): readonly (readonly Call[])[] {
  const near: Call[][] = [];
  let last: Stmt | null = null;
  for (const call of reads.toSorted((a, b) => a.start - b.start)) {
    const statement = statementOf(call);
    const block = statement && blockOf(statement);
    const follows =
      statement !== null &&
      last !== null &&
      (statement === last || (block !== null && block[block.indexOf(statement) - 1] === last));
    if (follows) near.at(-1)!.push(call);
    else near.push([call]);
    last = statement;
  }
  const single = near.filter(({ length }) => length === 1).flat();
  // Of two branches only one is run.
  const scattered = single.filter(
    (call) => !isOtherBranch(single[0]!, call) && !isAfterReturn(single[0]!, call),
  );
  return [...near, scattered].filter(({ length }) => length > 1);
}

/** `if torch.is_tensor(x): return x.item()`, then `return float(x)`: of the two one is run. */
function isAfterReturn(first: Call, then: Call): boolean {
  for (const at of ancestors(first))
    if (at.kind === "If" && !contains(at, then) && at.body.at(-1)?.kind === "Return")
      return contains(at.body.at(-1)!, first);
  return false;
}

/** `x.item()` or `float(x)` of a device tensor. */
function readsScalar(call: Call, facts: Facts): boolean {
  if (copiesLoss(call, facts)) return true;
  if (call.func.kind === "Attribute")
    return (
      call.func.attr === "item" &&
      call.args.length === 0 &&
      (facts.onAccelerator(beforeCopy(call.func.value)) ||
        isReadOffNetwork(call, facts) ||
        isLossOfWhoKnows(call.func.value, facts))
    );
  return (
    call.args.length === 1 &&
    facts.file.dotted(call.func) === "builtins.float" &&
    facts.onAccelerator(beforeCopy(call.args[0]!.value))
  );
}

/** `loss.detach().cpu().numpy()`: of a loss, one number. */
function copiesLoss({ func, parent }: Call, facts: Facts): boolean {
  if (func.kind !== "Attribute" || func.attr !== "numpy") return false;
  // What goes on to `.item()` or `float()` is read by that.
  if (
    parent?.kind === "Attribute" ||
    (parent?.kind === "Arg" && parent.parent?.kind === "Call" && lastWord(parent.parent.func) === "float")
  )
    return false;
  const source = beforeCopy(func.value);
  return (
    (source.kind === "Name" || source.kind === "Attribute") &&
    LOSS.test(lastWord(source)) &&
    facts.onAccelerator(source)
  );
}

/** `loss` of `loss.cpu().item()`, `loss.detach().cpu().numpy().item()`: the copy is the read. */
function beforeCopy(expr: Expr): Expr {
  return expr.kind === "Call" &&
    expr.func.kind === "Attribute" &&
    expr.args.length === 0 &&
    /^(?:cpu|numpy|detach)$/.test(expr.func.attr)
    ? beforeCopy(expr.func.value)
    : expr;
}

/**
 * `reduced["loss_box"]`, `output.loss`, of what nobody knows the make of: what `.item()` is asked of is no Python number, and a
 * loss is where the network is.
 */
function isLossOfWhoKnows(expr: Expr, facts: Facts): boolean {
  // `policy_loss.mean()`
  if (expr.kind === "Call")
    return (
      expr.func.kind === "Attribute" &&
      /^(?:mean|sum|detach)$/.test(expr.func.attr) &&
      expr.args.length === 0 &&
      isLossOfWhoKnows(expr.func.value, facts)
    );
  const name =
    expr.kind === "Subscript" ? (expr.index.kind === "Str" ? (expr.index.value ?? "") : "") : lastWord(expr);
  if (!facts.accelerator || !/^(?:Name|Attribute|Subscript)$/.test(expr.kind) || !LOSS.test(name))
    return false;
  const { what, device } = facts.value(expr);
  return what === "unknown" && device === "unknown";
}

/** `np.mean(x)`, `order.mean()` after `order = np.arange(n)`. */
function isOfNumPy(expr: Expr, facts: Facts): boolean {
  const made = expr.kind === "Name" ? facts.file.scopes.onlyValue(expr) : expr;
  if (made?.kind !== "Call") return false;
  const name = facts.file.dotted(made.func);
  if (name !== null) return name.startsWith("numpy.");
  return made.func.kind === "Attribute" && isOfNumPy(made.func.value, facts);
}

const LOSS = /(?:^|[_/. ])loss(?:es)?(?:[_/. ]|$)/i;

/** The read of `{k: v.item() for k, v in losses.items()}`: of what comes out of the loop itself. */
function readOfEach(comp: Comp): Call | null {
  return comp.clauses.length === 1 ? readWithin(comp.value ?? comp.element) : null;
}

/** `v.item()`, `float(v)`; also shown, scaled, rounded, or beside its name: `f"{v.item():.3f}"`, `(k, round(v.item(), 3))`. */
function readWithin(expr: Expr): Call | null {
  if (expr.kind === "Str") return firstRead(expr.parts);
  if (expr.kind === "Tuple") return firstRead(expr.items);
  if (expr.kind === "Binary") return firstRead([expr.left, expr.right]);
  if (expr.kind !== "Call") return null;
  const { func, args } = expr;
  if (func.kind === "Attribute")
    return func.attr === "item" && args.length === 0 && isOfOne(func.value) ? expr : null;
  if (func.kind !== "Name" || !args[0]) return null;
  if (/^(?:round|str|abs)$/.test(func.id)) return readWithin(args[0].value);
  return func.id === "float" && args.length === 1 && isOfOne(args[0].value) ? expr : null;
}

function firstRead(parts: readonly Expr[]): Call | null {
  for (const part of parts) {
    const read = readWithin(part);
    if (read) return read;
  }
  return null;
}

/** `map(float, (loss, penalty))`, `map(torch.Tensor.item, losses)` */
function mapsFloat(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const [how, over] = call.args;
  if (file.dotted(call.func) !== "builtins.map" || !how || !over) return false;
  const name = file.dotted(how.value) ?? "";
  if (name === "torch.Tensor.item") return true;
  const items = over.value.kind === "Tuple" || over.value.kind === "List" ? over.value.items : [];
  return name === "builtins.float" && items.some((item) => facts.onAccelerator(item));
}

/** `.item()` is a tensor's; of what `float(v)` reads, it must be seen to be one. */
function areTensors({ clauses }: Comp, read: Call, facts: Facts): boolean {
  const one = baseOf(readOf(read));
  if (one.kind === "Subscript") return isBoundBy(clauses[0]!.target, one.index) && isOfDevice(one, facts);
  if (read.func.kind === "Attribute" || isLossByName(one, facts)) return true;
  let over = clauses[0]!.iter;
  // `losses.items()`
  if (over.kind === "Call" && over.func.kind === "Attribute" && over.args.length === 0)
    over = over.func.value;
  const made = over.kind === "Name" ? facts.file.scopes.onlyValue(over) : over;
  if (made?.kind === "Comp") return facts.onAccelerator(made.value ?? made.element);
  const items = made?.kind === "Dict" ? made.values : turnsOf(over, clauses[0]!.target, one, facts);
  return (
    items.some((item) => facts.onAccelerator(item)) ||
    // What every caller hands in: `def row(*values): return [float(v) for v in values]`.
    (read.args[0] !== undefined && facts.onAccelerator(read.args[0].value))
  );
}

/**
 * What a name of the loop's target is given one after the other, where that is written down: `v` of `for v in (loss, penalty)`, of
 * `for k, v in (("loss", loss), ("penalty", penalty))`, of `zip(names, (loss, penalty))`.
 */
function turnsOf(over: Expr, target: Expr, name: Expr, facts: Facts): readonly Expr[] {
  const { file } = facts;
  const made = over.kind === "Name" ? file.scopes.onlyValue(over) : over;
  const at = target.kind === "Tuple" ? target.items.findIndex((item) => isBoundBy(item, name)) : null;
  if (made?.kind === "List" || made?.kind === "Tuple")
    return at === null
      ? made.items
      : made.items.flatMap((item) =>
          item.kind === "Tuple" || item.kind === "List" ? (item.items[at] ?? []) : [],
        );
  if (made?.kind !== "Call" || at === null) return [];
  const by = file.dotted(made.func);
  if (by === "builtins.zip" && made.args[at]) return turnsOf(made.args[at].value, name, name, facts);
  return by === "builtins.enumerate" && at === 1 && made.args[0] && target.kind === "Tuple"
    ? turnsOf(made.args[0].value, target.items[1]!, name, facts)
    : [];
}

/** `v` of `v.item()` and `float(v)`. */
function readOf({ func, args }: Call): Expr {
  return func.kind === "Attribute" ? func.value : args[0]!.value;
}

function isBoundBy(target: Expr, name: Expr): boolean {
  const bound = target.kind === "Tuple" ? target.items : [target];
  return bound.some((item) => item.kind === "Name" && name.kind === "Name" && item.id === name.id);
}

/** `stacked[i]`, `losses[key]`: of a tensor, or of a dict or list of them, on the device. */
function isOfDevice(one: NodeOf<"Subscript">, facts: Facts): boolean {
  const made = one.value.kind === "Name" ? facts.file.scopes.onlyValue(one.value) : null;
  const held =
    made?.kind === "Dict"
      ? made.values
      : made?.kind === "List"
        ? made.items
        : made?.kind === "Comp"
          ? [made.value ?? made.element]
          : [];
  return (
    facts.onAccelerator(one) ||
    held.some((item) => facts.onAccelerator(item)) ||
    (made?.kind === "Call" && isReducedOnDevice(made, facts))
  );
}

/** `mean_of_ranks(torch.stack(values))`: a function of the tree that is given a tensor of the device, and is not seen to bring it back. */
function isReducedOnDevice(call: Call, facts: Facts): boolean {
  const given = call.args[0] && facts.value(call.args[0].value);
  return (
    /reduce|mean|sum|gather|average|sync/i.test(lastWord(call.func)) &&
    facts.accelerator &&
    given?.what === "tensor" &&
    given.device !== "cpu" &&
    facts.callee(call)?.reads === false
  );
}

/** `for name, loss in losses.items(): totals[name] += loss.item()`, in a step. */
function readsInLoop(call: Call, facts: Facts): boolean {
  const isItem = call.func.kind === "Attribute" && call.func.attr === "item" && call.args.length === 0;
  const isFloat = call.args.length === 1 && facts.file.dotted(call.func) === "builtins.float";
  if ((!isItem && !isFloat) || !isOfOne(readOf(call))) return false;
  const loop = loopsAround(call)[0];
  if (loop?.kind !== "For" || facts.stepLoops.has(loop) || !facts.everyStep(loop)) return false;
  if (facts.frequency(call, loop) !== "every") return false;
  const place = baseOf(readOf(call));
  // `for i, name in enumerate(names): totals[name] += values[i].item()`
  if (place.kind === "Subscript") return isBoundBy(loop.target, place.index) && isOfDevice(place, facts);
  if (isAttributeByName(place)) return isLossByName(place, facts);
  const over = loop.iter;
  // `for p in model.parameters(): total += p.grad.norm().item() ** 2`
  const values =
    over.kind === "Call" &&
    over.func.kind === "Attribute" &&
    /^(?:items|values|(?:named_)?parameters)$/.test(over.func.attr);
  const isThere = (item: Expr): boolean =>
    facts.onAccelerator(item) || (isItem && isLossOfWhoKnows(item, facts));
  if (
    // `float(v)` may be of a Python number.
    !(values && isItem) &&
    !turnsOf(over, loop.target, place, facts).some(isThere) &&
    !(isItem && isOfLosses(over, place, loop, facts))
  )
    return false;
  const isBound = (read: Expr): boolean => isBoundBy(loop.target, read);
  const read = place;
  // `norm = p.grad.norm(2)` in the same turn, and then `norm.item()`.
  const made = read.kind === "Name" ? facts.file.scopes.onlyValue(read) : null;
  return isBound(read) || (made !== null && contains(loop, made) && isOfOne(made) && isBound(baseOf(made)));
}

/** `for name, value in zip(names, losses)`, of losses that nobody knows the make of. */
function isOfLosses(over: Expr, name: Expr, { target }: For, facts: Facts): boolean {
  const at = target.kind === "Tuple" ? target.items.findIndex((item) => isBoundBy(item, name)) : -1;
  const zipped =
    over.kind === "Call" && facts.file.dotted(over.func) === "builtins.zip" ? over.args[at] : null;
  return !!zipped && isLossOfWhoKnows(zipped.value, facts);
}

function baseOf(expr: Expr): Expr {
  if (expr.kind === "Call" && expr.func.kind === "Attribute") return baseOf(expr.func.value);
  return expr.kind === "Attribute" ? baseOf(expr.value) : expr;
}

/** `v`, `v.mean()`, `p.grad.norm(2)`, `values[i]` */
function isOfOne(expr: Expr): boolean {
  if (expr.kind === "Attribute") return /^(?:grad|data)$/.test(expr.attr) && isOfOne(expr.value);
  return expr.kind === "Call" && expr.func.kind === "Attribute" && REDUCES.test(expr.func.attr)
    ? isOfOne(expr.func.value)
    : expr.kind === "Name" ||
        isAttributeByName(expr) ||
        (expr.kind === "Subscript" && expr.value.kind === "Name" && expr.index.kind === "Name");
}

/** `getattr(self, name)`, `getattr(self, "loss_" + name)` */
function isAttributeByName(expr: Expr): boolean {
  return (
    expr.kind === "Call" && expr.func.kind === "Name" && expr.func.id === "getattr" && expr.args.length === 2
  );
}

/** `getattr(self, "loss_" + name)`: as many reads as there are names. */
function isLossByName(expr: Expr, facts: Facts): boolean {
  return (
    facts.accelerator &&
    expr.kind === "Call" &&
    isAttributeByName(expr) &&
    expr.args[1]!.value.kind !== "Str" &&
    /loss/i.test(facts.file.textOf(expr.args[1]!))
  );
}

/** Methods on the way from a tensor to one number of it. */
const REDUCES = /^(?:mean|sum|detach|cpu|norm|abs|max|min|std|var|square|pow|sqrt|float)$/;

/** `a, b = x.item(), y.item()` in one transfer. */
function together(call: Call, facts: Facts): Fix | null {
  const tuple = call.parent;
  if (tuple?.kind !== "Tuple" || tuple.parent?.kind !== "Assign" || tuple.parent.value !== tuple) return null;
  const sources = tuple.items.map((item) =>
    item.kind === "Call" && readsScalar(item, facts) && item.func.kind === "Attribute"
      ? item.func.value
      : null,
  );
  if (sources.includes(null)) return null;
  const torch = localName(facts.file, "torch");
  const list = sources.map((source) => facts.file.textOf(source!)).join(", ");
  return {
    grade: "unsafe",
    title: "Read them in one transfer",
    edits: [{ start: tuple.start, end: tuple.end, text: `${torch ?? "torch"}.stack([${list}]).tolist()` }],
    ...(torch === null ? { imports: ["import torch"] } : {}),
  };
}
