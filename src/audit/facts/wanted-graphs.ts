import { isFalse, isTrue, keyword } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import {
  classOf,
  contains,
  functionOf,
  isStatement,
  lastWord,
  statementOf,
  walk,
} from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Call, ClassDef, Expr, FunctionDef, Node } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";
import { isReadCut } from "./cuts.ts";
import type { Facts } from "./facts.ts";
import { isOtherBranch } from "./guards.ts";
import { derivesFrom } from "./backwarded.ts";
import { unpackedFrom } from "./inputs.ts";
import { moved } from "./naming.ts";
import { isNetwork } from "./networks.ts";
import { callTarget } from "./summary.ts";
import { METHODS } from "./torch-names.ts";
import { optimizerSteps } from "./training.ts";

/**
 * What differentiates without a backward, or hooks into one. `autograd.functional.jacobian(f, x)` and `func.grad(f)(x)` run
 * `f` themselves, and differentiate what that recorded and nothing else.
 */
export const OTHERWISE = /autograd\.grad\b|(?<!\bfunc\.)\bgrad\(|create_graph|\.register_hook/g;

/**
 * Whether something of the file may want the graph in another way than by a backward. A function that nobody names,
 * `gradient_penalty` of a loss that was tried once, differentiates nothing of what another one computes.
 */
export function isDifferentiatedOtherwise(call: Call, { file }: Facts): boolean {
  for (const { 0: word, index } of file.text.matchAll(OTHERWISE)) {
    if (word === "create_graph" && keepsByItself(index, call, file)) continue;
    const fn = file
      .all("FunctionDef")
      .find(
        (one) => one.start <= index && index < one.end && !contains(one, call) && isNeverNamed(one, file),
      );
    if (!fn) return true;
  }
  return false;
}

/**
 * `loss.backward(create_graph=second_order)`: with that a graph is kept anyway, for an optimizer that wants it, and without
 * it nobody does; in the other branch, `loss_scaler(loss, create_graph=second_order)`, it is the same loss.
 */
function keepsByItself(index: number, call: Call, file: PythonFile): boolean {
  const asked = file.calls
    .given(["create_graph"])
    .find((one) =>
      one.args.some(({ name, start, end }) => name === "create_graph" && start <= index && index < end),
    );
  // `def __call__(self, loss, create_graph=False)` asks for nothing by itself.
  if (!asked) return file.all("Param").some(({ start, default: usual }) => start === index && isFalse(usual));
  return (
    isOtherBranch(asked, call) ||
    (lastWord(asked.func) === "backward" && !isTrue(keyword(asked, "create_graph")!.value))
  );
}

/** What torch or a framework calls by itself is named by nobody either. */
const CALLED_BY_OTHERS =
  /^(?:__\w+__|forward|backward|main|compute_loss|jvp|vjp|\w*(?:closure|hook)\w*|\w+_step|on_\w+)$/;

function isNeverNamed({ decorators, name }: FunctionDef, { text }: PythonFile): boolean {
  return (
    decorators.length === 0 &&
    !CALLED_BY_OTHERS.test(name) &&
    text.match(new RegExp(`\\b${name}\\b`, "g"))?.length === 1
  );
}

/** Calls a network, or a method of one. */
function runsNetwork(expr: Expr, facts: Facts): boolean {
  let found = false;
  walk(expr, (node) => {
    if (node.kind === "Call" && facts.file.dotted(node.func) === null)
      found ||=
        isNetwork(node.func, facts) ||
        (node.func.kind === "Attribute" && facts.value(node.func.value).what === "module");
    return !found;
  });
  return found;
}

/**
 * The definitions behind a loss that carry a graph, as far as names show; what is detached is not followed. With `maybe` also
 * those that are one of several things that a call of nobody knows what gave.
 */
export function graphBehind(loss: Expr, facts: Facts, maybe = false): ReadonlySet<Definition> {
  const found = new Set<Definition>();
  const seen = new Set<Definition>();
  const follow = (expr: Expr): void =>
    walk(expr, (node) => {
      if (node.kind === "Call" && node.func.kind === "Attribute" && /^(?:detach|item)$/.test(node.func.attr))
        return false;
      if (node.kind === "Name" && !facts.file.scopes.binds(node))
        for (const one of facts.file.scopes.reaching(node)) {
          if (seen.has(one) || seen.size > 200) continue;
          seen.add(one);
          if (one.how === "iterate" || one.how === "import" || one.how === "function" || one.how === "class")
            continue;
          const { what, graph } = facts.valueOfDefinition(one);
          if (what === "module" || what === "number" || what === "optimizer" || graph === "no") continue;
          if (facts.gradMode(one.node) === "off") continue;
          const carries =
            graph === "yes" ||
            (one.value !== null && runsNetwork(one.value, facts)) ||
            (maybe &&
              one.how === "unpack" &&
              one.value?.kind === "Call" &&
              !facts.file.dotted(one.value.func) &&
              !isRemembered(one.value));
          if (carries && !facts.networks.is(node)) found.add(one);
          if (one.value) follow(one.value);
        }
      return true;
    });
  follow(loss);
  return found;
}

/** `replay_buffer.sample(batch_size)`: what was stored in steps before, and differentiating that again would fail. */
function isRemembered({ func }: Call): boolean {
  return (
    func.kind === "Attribute" &&
    /^(?:sample|get|next)/.test(func.attr) &&
    /(?:memory|buffer|replay|rollouts?|storage)$/i.test(lastWord(func.value))
  );
}

/**
 * `fake = generate(net_g, z)`, then `update_d(net_d, real, fake)` and `update_g(net_d, fake)`: who is handed what the other one is
 * handed as well, and both differentiate what they make of it.
 */
export function isHandedToAnother(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(call);
  if (fn?.kind !== "FunctionDef") return false;
  const target = file.qualified(fn);
  const updates = facts.callsTo("loose").filter((one) => facts.callee(one)?.reachesBackward === true);
  const made = (one: Call): ReadonlySet<Definition> =>
    new Set(
      one.args
        .flatMap(({ value }) => (value.kind === "Name" ? file.scopes.reaching(value) : []))
        .filter(
          (given) =>
            (given.how === "assign" || given.how === "unpack") &&
            given.value?.kind === "Call" &&
            !METHODS.has(lastWord(given.value.func)) &&
            file.dotted(given.value.func)?.startsWith("torch.") !== true &&
            facts.valueOfDefinition(given).graph !== "no" &&
            !/^(?:module|optimizer|number|string)$/.test(facts.valueOfDefinition(given).what),
        ),
    );
  return updates
    .filter((one) => callTarget(one, file) === target)
    .some((own) => {
      const mine = made(own);
      return updates.some(
        (other) =>
          callTarget(other, file) !== target &&
          functionOf(other) === functionOf(own) &&
          [...made(other)].some((one) => mine.has(one)),
      );
    });
}

/**
 * Whether another method of the class differentiates something that was computed from the same `self.fake = self.generator(z)`
 * as this loss was: the first of the two needs to keep the graph.
 */
export function isSharedThroughSelf(call: Call, loss: Expr, facts: Facts): boolean {
  const cls = classOf(call);
  const fn = functionOf(call);
  const others = cls
    ? facts.backwards.filter((one) => one.loss && functionOf(one.call) !== fn && classOf(one.call) === cls)
    : [];
  if (others.length === 0) return false;
  const mine = attributesBehind(loss, cls!, facts);
  return (
    mine.size > 0 &&
    others.some((one) => [...attributesBehind(one.loss!, cls!, facts)].some((name) => mine.has(name)))
  );
}

/** The attributes of self behind an expression that what it runs was written to, by any method; what is detached is not followed. */
function attributesBehind(expr: Expr, cls: ClassDef, facts: Facts): ReadonlySet<string> {
  const { file } = facts;
  const attributes = attributesOf(cls, file);
  const found = new Set<string>();
  const seen = new Set<Definition | string>();
  const follow = (from: Expr): void =>
    walk(from, (node) => {
      if (node.kind === "Call" && /^(?:detach|item)$/.test(lastWord(node.func))) return false;
      const own = node.kind === "Attribute" ? selfAttribute(node) : null;
      if (own !== null && !seen.has(own) && seen.size < 200) {
        seen.add(own);
        for (const { in: method, value, target } of attributes.get(own)?.writes ?? []) {
          const written = method.name === "__init__" ? null : (value ?? unpackedFrom(target));
          if (!written) continue;
          if (runsPart(written)) found.add(own);
          follow(written);
        }
      }
      if (node.kind === "Name" && !file.scopes.binds(node))
        for (const one of file.scopes.reaching(node))
          if (!seen.has(one) && seen.size < 200 && one.how !== "param" && one.value) {
            seen.add(one);
            follow(one.value);
          }
      return true;
    });
  follow(expr);
  return found;
}

/** `self.maker(z)`: whatever it is, what it gives may have a graph. */
function runsPart(expr: Expr): boolean {
  let found = false;
  walk(expr, (node) => {
    found ||= node.kind === "Call" && selfAttribute(node.func) !== null;
    return !found;
  });
  return found;
}

export function isReadAfter(one: Definition, call: Call, facts: Facts): boolean {
  let found = false;
  if (one.value)
    walk(one.value, (node) => {
      // Only losses have graphs that someone might want again.
      const callee = node.parent?.kind === "Call" && node.parent.func === node;
      if (node.kind === "Name" && !callee && node.id !== one.name && /loss|objective|cost/i.test(node.id))
        for (const term of facts.file.scopes.reaching(node))
          if (facts.file.scopes.uses(term).some((use) => isWantedAgain(use, call, facts))) found = true;
      return !found;
    });
  return found;
}

export function isWantedAgain(use: Expr, call: Call, facts: Facts): boolean {
  const { file } = facts;
  const { parent } = use;
  if (use.start < call.end || functionOf(use) !== functionOf(call) || parent?.kind === "Delete") return false;
  // A step has changed the weights since: torch refuses to differentiate the old graph.
  if (
    file
      .once(optimizerSteps)
      .some(
        (step) => call.end < step.start && step.end < use.start && functionOf(step) === functionOf(call),
      ) &&
    statementOf(use)?.kind === "Return"
  )
    return false;
  // `float(loss)`, `print("%.3f" % losses[0])`, `writer.add_scalar("loss", losses[0], step)`
  for (let at: Node | null = parent; at && !isStatement(at); at = at.parent)
    if (
      at.kind === "Call" &&
      /^(?:float|int|print|str|bool|repr|format|add_scalars?|info|debug|log|set_\w+|item)$/.test(
        lastWord(at.func),
      )
    )
      return false;
  // `penalty is not None`
  if (parent?.kind === "Compare" || isListedToBeCut(parent, facts)) return false;
  return !(parent?.kind === "Attribute" && /^(?:item|detach|cpu|shape|data)$/.test(parent.attr));
}

/** `shown = [pred, loss]`, and then `[one.detach() for one in shown]`: a list of which only numbers are read. */
function isListedToBeCut(list: Node | null, facts: Facts): boolean {
  const statement = list?.kind === "List" || list?.kind === "Tuple" ? list.parent : null;
  const [target, ...more] = statement?.kind === "Assign" && statement.value === list ? statement.targets : [];
  const made = target?.kind === "Name" && more.length === 0 ? facts.file.scopes.definitionAt(target) : null;
  const reads = made ? facts.file.scopes.uses(made) : [];
  return reads.length > 0 && reads.every((read) => isReadCut(read, facts));
}

/** Carried over, and the loss is computed from it. */
export function isState(name: string, loss: Expr | null, loop: Node, facts: Facts): boolean {
  if (isCounter(name, loop, facts)) return false;
  const { scopes } = facts.file;
  const made = (scopes.scopeOf(loop).bindings.get(name) ?? []).filter((one) => contains(loop, one.node));
  return loss === null || made.length === 0 || derivesFrom(loss, new Set(made), facts);
}

function isCounter(name: string, loop: { start: number; end: number }, facts: Facts): boolean {
  const all = facts.file
    .all("Name")
    .filter(
      (one) =>
        one.id === name && loop.start <= one.start && one.end <= loop.end && facts.file.scopes.binds(one),
    );
  // Cut off in each turn: `states = detach(states)`.
  const cut = all.some((one) => {
    const value = facts.file.scopes.definitionAt(one)?.value;
    return value != null && /detach|repackage/.test(facts.file.textOf(value));
  });
  if (cut) return true;
  return all.every((one) => {
    const definition = facts.file.scopes.definitionAt(one);
    if (definition?.value == null) return false;
    // `model = model.to(device)`: a network goes from turn to turn, and no graph with it.
    const from = moved(definition.value);
    if (from !== definition.value && from.kind === "Name" && facts.networks.is(from)) return true;
    // What a loop hands out is data.
    if (definition.how === "iterate") return true;
    // `data_iter = iter(loader)`, `batch = next(data_iter)`
    if (
      definition.value.kind === "Call" &&
      /^(?:builtins\.(?:iter|next)|time\.\w+)$/.test(facts.file.dotted(definition.value.func) ?? "")
    )
      return true;
    // `x, y = get_batch("train")` brings data, not a graph.
    if (
      definition.value.kind === "Call" &&
      definition.value.args.every(({ value }) => value.kind === "Str" || value.kind === "Num")
    )
      return !isNetwork(definition.value.func, facts);
    // `state = (h, c)`
    if (definition.value.kind === "Tuple" && definition.how === "assign")
      return definition.value.items.every((item) => facts.value(item).graph === "no");
    const { what, graph } = facts.value(definition.value);
    if (what === "number" || what === "module" || graph === "no") return true;
    // `best = scores["iou"]`, `total = total / 10`: only what is called with it can hand on a state.
    return (
      graph === "unknown" &&
      (definition.how === "augment" || definition.how === "assign") &&
      definition.value.kind !== "Call" &&
      !runsNetwork(definition.value, facts)
    );
  });
}
