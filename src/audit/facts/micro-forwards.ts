import { contains, functionOf, namesIn, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Attribute, Call, Expr, FunctionDef, Name, Node } from "../../python/tree.ts";
import { MICRO_STEPS } from "./accumulation.ts";
import { givenFor } from "./called-keeps.ts";
import type { CalledKeep } from "./called-keeps.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { bringsGraph } from "./likely-graphs.ts";
import { carriedNames, isNetwork, networkOfLoss } from "./networks.ts";
import { entriesLeft, isOwnEntry } from "./own-entries.ts";
import { paramGiven, returnsByName } from "./returns.ts";
import { callTarget } from "./summary.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";

/** By its name the loss of one turn. */
export const LOSSES = /loss|cost|err|nll/i;

/** `self.compute(part)`, `critic(x)`: by what it gives, the run of a network; not the loss of what one gave. */
function mayRun(call: Call, facts: Facts): boolean {
  if (!facts.guesses || call.args.length === 0 || isLoss(call.func, facts)) return false;
  const name = facts.file.dotted(call.func);
  if (name !== null && /^(?:torch|builtins|numpy|math|random)\./.test(name)) return false;
  const own = selfAttribute(call.func) ?? (call.func.kind === "Name" ? call.func.id : null);
  return (
    own !== null &&
    ((!/^(?:get_|to_|log|print|update|add)|batch|data|sample|aug|device/i.test(own) &&
      bringsGraph(call, facts)) ||
      handsBackLoss(call, facts))
  );
}

/** `get_batch_metrics(part)` of this file, which ends in `return losses.mean(), metrics`. */
function handsBackLoss(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const name = callTarget(call, file);
  const returned = name === null ? [] : (file.once(returnsByName).get(name) ?? []);
  return returned.some((value) =>
    (value.kind === "Tuple" ? value.items : [value]).some(
      (one) => namesIn(one).some(({ id }) => LOSSES.test(id)) && bringsGraph(one, facts),
    ),
  );
}

/** `model(x)`, `model.loss(batch)` */
function runs(call: Call, facts: Facts): boolean {
  return isNetwork(call.func, facts)
    ? !isLoss(call.func, facts)
    : networkOfLoss(call, facts) !== null || isRunOfOwn(call, facts);
}

/** `micro_loss(x, y)` of this file, which runs a network of the whole file's and hands back what keeps its graph. */
function isRunOfOwn(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const name = call.func.kind === "Name" && call.args.length > 0 ? callTarget(call, file) : null;
  const fn = name === null ? undefined : file.functionNamed(name);
  const returned = name === null ? [] : (file.once(returnsByName).get(name) ?? []);
  return (
    fn !== undefined &&
    returned.length > 0 &&
    returned.every((one) => facts.value(one).graph === "yes") &&
    file
      .all("Call")
      .some((one) => functionOf(one) === fn && isNetwork(one.func, facts) && !isLoss(one.func, facts))
  );
}

/** `objective(model, part)`, `diffusion.training_loss(model, x)`: runs what it is given. */
export function runsGiven(call: Call, facts: Facts): boolean {
  const { args } = call;
  const run = facts.ranElsewhere(call, null);
  if (run && facts.networks.is(run)) return true;
  if (args[0] !== undefined && args.length > 1 && args[0].star === 0 && facts.networks.is(args[0].value))
    return true;
  // `step(epoch, model, batch)` of this file, which calls what it is given.
  return args.some((arg) => {
    const param = facts.networks.is(arg.value) ? paramGiven(call, arg, facts.file) : null;
    const made = param && facts.file.scopes.definitionAt(param);
    return made !== null && facts.file.scopes.uses(made).some(({ parent }) => parent?.kind === "Call");
  });
}

/** `run()` of `run = functools.partial(objective, model, part)` in the same turn: what it is bound to is what it runs with. */
function boundRun({ func }: Call, loop: Node, facts: Facts): Call | null {
  const { file, networks } = facts;
  const made = func.kind === "Name" ? file.scopes.onlyValue(func) : null;
  if (made?.kind !== "Call" || file.dotted(made.func) !== "functools.partial" || !contains(loop, made))
    return null;
  const [run, ...given] = made.args.map(({ value }) => value);
  return run && (isNetwork(run, facts) || given.some((one) => networks.is(one))) ? made : null;
}

/** By its name what compares an output with what it should be. */
const COMPARES = /loss|crit|mse|mae|nll|bce|psnr|ssim|entropy|l[12](?:_|$)/i;

/**
 * `render(rays[at : at + n])` in `for at in range(0, len(rays), n):`, whatever `render` is: where the sum of what comes of it is
 * differentiated later, it has recorded a graph for this part of the data.
 */
function runsOnPart(call: Call, loop: Node, facts: Facts): boolean {
  const { file } = facts;
  if (!facts.guesses || loop.kind !== "For" || loop.target.kind !== "Name") return false;
  const { iter, target } = loop;
  const steps = iter.kind === "Call" && file.dotted(iter.func) === "builtins.range" && iter.args.length === 3;
  const name = file.dotted(call.func);
  if (!steps || (name !== null && /^(?:torch|builtins|numpy|math|random)\./.test(name))) return false;
  // A method of what it is a part of: `rays[at : at + n].cuda()`.
  if (COMPARES.test(file.textOf(call.func)) || call.func.kind === "Call") return false;
  return call.args.some(({ value }) => {
    const part = unsent(value);
    return part.kind === "Subscript" && isSlicedBy(part.index, target.id) && !bringsGraph(part.value, facts);
  });
}

/** `rays[a:b]` of `rays[a:b].cuda()` */
function unsent(expr: Expr): Expr {
  let at = expr;
  while (at.kind === "Call" && at.func.kind === "Attribute" && /^(?:to|cuda|float)$/.test(at.func.attr))
    at = at.func.value;
  return at;
}

/** `at : at + n`, also as one of several. */
function isSlicedBy(index: Expr, counter: string): boolean {
  if (index.kind === "Tuple") return index.items.some((one) => isSlicedBy(one, counter));
  return index.kind === "Slice" && namesIn(index).some(({ id }) => id === counter);
}

const CUTS = /^(?:detach|item|numpy|tolist|cpu)$/;

/** The network's call in this loop that the added value is computed from. */
export function forwardIn(loop: Node, value: Expr, facts: Facts, depth = 0): Call | null {
  if (depth > 6) return null;
  let found: Call | null = null;
  walk(value, (node) => {
    if (found || node.kind === "Lambda") return false;
    // The numbers of a result have no graph.
    if (node.kind === "Call" && node.func.kind === "Attribute" && CUTS.test(node.func.attr)) return false;
    const bound = node.kind === "Call" ? boundRun(node, loop, facts) : null;
    if (bound) found = bound;
    else if (
      node.kind === "Call" &&
      (runs(node, facts) || runsGiven(node, facts) || mayRun(node, facts) || runsOnPart(node, loop, facts))
    )
      found = node;
    else if (node.kind === "Attribute" && HELD_LOSS.test(node.attr)) found = lastForward(node, loop, facts);
    else if (node.kind === "Name" && !facts.file.scopes.binds(node))
      for (const one of facts.file.scopes.reaching(node))
        if (one.value && contains(loop, one.node) && /^(?:assign|unpack|augment)$/.test(one.how)) {
          // `loss /= len(data)` is the loss of before.
          const before = one.how === "augment" && one.node.kind === "Name" ? one.node : null;
          found ??=
            forwardIn(loop, one.value, facts, depth + 1) ??
            (before && forwardOf(before, loop, facts, depth + 1));
        }
    return found === null;
  });
  return found;
}

const HELD_LOSS = /(?:^|_)(?:loss(?:es)?|nll)$/;

/** `net(x)` above `raw.last_loss`, where `raw = net.module`: the forward leaves its loss on the network. */
function lastForward({ value, parent, start }: Attribute, loop: Node, facts: Facts): Call | null {
  if (value.kind !== "Name" || parent?.kind === "Call") return null;
  const { scopes } = facts.file;
  const same = new Set([value.id]);
  for (const one of scopes.reaching(value))
    if (one.how === "assign" && one.value && one.value.kind !== "Call")
      for (const { id } of namesIn(one.value)) same.add(id);
  return (
    facts.file
      .callsNamed(...same)
      .findLast(
        (call) =>
          call.func.kind === "Name" &&
          contains(loop, call) &&
          call.end < start &&
          isNetwork(call.func, facts),
      ) ?? null
  );
}

function forwardOf(augmented: Name, loop: Node, facts: Facts, depth: number): Call | null {
  for (const { how, value, node } of facts.file.scopes.reaching(augmented)) {
    const found =
      value && node !== augmented && how !== "param" && contains(loop, node)
        ? forwardIn(loop, value, facts, depth)
        : null;
    if (found) return found;
  }
  return null;
}

/** By its name, or made by one of torch's: `mse = nn.MSELoss()`. */
function isLoss(callee: Expr, facts: Facts): boolean {
  // `self.critic` is a network, though what is said for sure leaves it alone.
  const losses = facts.guesses ? /loss|criter/i : /loss|crit/i;
  if (losses.test(facts.file.textOf(callee))) return true;
  return (
    callee.kind === "Name" &&
    facts.file.scopes
      .reaching(callee)
      .some(({ value }) => value?.kind === "Call" && facts.file.dotted(value.func)?.endsWith("Loss"))
  );
}

/** `X, Y = get_batch("train")`: the next turn's data, which has no graph. */
function isFetched(name: string, loop: Loop, facts: Facts): boolean {
  const inside = (facts.file.scopes.scopeOf(loop).bindings.get(name) ?? []).filter((one) =>
    contains(loop, one.node),
  );
  return (
    inside.length > 0 &&
    inside.every(
      ({ value }) =>
        value?.kind === "Call" &&
        !isNetwork(value.func, facts) &&
        value.args.every((arg) => /^(?:Str|Num|Name|Attribute|Subscript)$/.test(arg.value.kind)) &&
        /batch|next|sample|load|data/i.test(facts.file.textOf(value.func)),
    )
  );
}

/** The next batch, or what is drawn anew: another noise for the same batch. */
const DRAWS = /^(?:builtins\.next|torch\.(?:rand\w*|normal|bernoulli|multinomial))$/;

/** `for _ in range(4)` */
function isCounted(loop: Loop, { file }: Facts): boolean {
  return loop.kind === "For" && loop.iter.kind === "Call" && file.dotted(loop.iter.func) === "builtins.range";
}

/** `for _ in range(config.gradient_accumulation_steps)` */
function isOfMicroSteps(loop: Loop, { file }: Facts): boolean {
  return loop.kind === "For" && MICRO_STEPS.test(file.textOf(loop.iter));
}

/** Each turn runs on its own data: nothing is carried over, and no graph comes in from before the loop. */
export function isIndependent(
  forward: Call,
  loop: Loop,
  facts: Facts,
  called: CalledKeep | null = null,
): boolean {
  if (forward.args.length === 0) return false;
  const fn = called && functionOf(called.at);
  const isInside = (node: Node): boolean => contains(loop, node) || (fn !== null && contains(fn, node));
  for (const name of carriedNames(forward, loop, facts)) if (!isFetched(name, loop, facts)) return false;
  const target = new Set<string>();
  if (loop.kind === "For")
    walk(loop.target, (node) => {
      if (node.kind === "Name") target.add(node.id);
    });
  // What runs the network by itself, again and again on one batch, draws its noise or time steps inside; a loop of
  // micro-steps has each of them its own loss, whatever they are given.
  let own = isCounted(loop, facts) && (!isNetwork(forward.func, facts) || isOfMicroSteps(loop, facts));
  let outside = false;
  let carried = false;
  const seen = new Set<Definition>();
  const look = (expr: Expr): void =>
    walk(expr, (node) => {
      if (isOwnEntry(node, loop, facts.file)) {
        own = true;
        return false;
      }
      if (node.kind === "Call" && DRAWS.test(facts.file.dotted(node.func) ?? "")) own = true;
      if (node.kind !== "Name" || facts.file.scopes.binds(node)) return;
      if (target.has(node.id)) own = true;
      for (const one of facts.file.scopes.reaching(node)) {
        if (seen.has(one)) continue;
        seen.add(one);
        // What the loop hands to the function that runs the network.
        const given =
          called && one.how === "param" && one.node.parent === fn
            ? givenFor(one, fn as FunctionDef, called.by)
            : null;
        if (given) {
          for (const name of carriedNames(given, loop, facts))
            if (!isFetched(name, loop, facts)) carried = true;
          look(given);
        }
        if (!one.value) continue;
        if (!isInside(one.node)) {
          if (one.value.kind === "Call" && isNetwork(one.value.func, facts)) outside = true;
          else if (facts.valueOfDefinition(one).graph === "yes") outside = true;
          // `hidden[i]` after `hidden[i + 1] = …`: of another turn.
          if (entriesLeft(node.id, loop, facts.file).length > 0) carried = true;
          continue;
        }
        // Fetched anew: `x, y = get_batch()`, `batch = next(it)`.
        if (
          one.value.kind === "Call" &&
          !isNetwork(one.value.func, facts) &&
          (one.how === "unpack" ||
            facts.file.dotted(one.value.func) === "builtins.next" ||
            // Another look at the same data: `view = augment(images)`.
            /aug|transform|crop|noise|corrupt|perturb|jitter|view|sample/i.test(
              facts.file.textOf(one.value.func),
            ))
        )
          own = true;
        look(one.value);
      }
      return true;
    });
  for (const arg of forward.args) look(arg.value);
  return own && !outside && !carried && (called !== null || loopsAround(forward).includes(loop));
}
