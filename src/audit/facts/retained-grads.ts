import { isTrue, keyword, positional } from "../../python/file.ts";
import { classOf, contains, functionOf, walk } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Arg, Call, Expr, Name, Node } from "../../python/tree.ts";
import { runsBehind } from "./behind-loss.ts";
import { isAlwaysOn } from "./settled-flags.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { carriedNames } from "./networks.ts";
import { loopsAround } from "./training.ts";
import { graphBehind, isState } from "./wanted-graphs.ts";

/**
 * `torch.autograd.grad(loss, parameters, retain_graph=True)` where nothing else differentiates what this loss was computed from:
 * the graph that this turn's run recorded is gone through once.
 */
export function* retainedGrads(facts: Facts): Generator<{ readonly call: Call; readonly flag: Arg }> {
  const { file } = facts;
  const grads = file.callsNamed("grad").filter((call) => file.dotted(call.func) === "torch.autograd.grad");
  for (const call of grads) {
    const flag = keyword(call, "retain_graph");
    const loss = positional(call, 0);
    if (!flag || !isAlwaysOn(flag.value, facts) || loss?.kind !== "Name") continue;
    // What reads a derivative by a hook or by a second one is not seen here.
    if (isOfHigherOrder(call) || /register_hook|func\.(?:grad|vjp|jvp)/.test(file.code)) continue;
    const loop = loopsAround(call)[0];
    const within = loop ?? functionOf(call);
    const runs = runsBehind(loss, facts, true);
    if (!within || runs.length === 0 || !runs.every((run) => contains(within, run))) continue;
    if (isInComprehension(call)) continue;
    if (loop && [...carriedNames(loop, loop, facts)].some((name) => isState(name, loss, loop, facts)))
      continue;
    if (isWantedBeside(call, loss, grads, facts)) continue;
    yield { call, flag };
  }
}

/** Another derivative of the file goes through the same graph, or what belongs to it is handed out, and whoever has it may. */
function isWantedBeside(call: Call, loss: Name, grads: readonly Call[], facts: Facts): boolean {
  const { backwards, file } = facts;
  const others = [
    ...backwards.filter((one) => one.call !== call),
    ...grads.filter((one) => one !== call).map((one) => ({ call: one, loss: positional(one, 0) })),
  ];
  if (others.length === 0) return false;
  const fn = functionOf(call);
  const graph = graphBehind(loss, facts, true);
  const isOfGraph = (expr: Expr): boolean => keepsAny(graph, expr, facts);
  if (graph.size === 0) return true;
  // Of another function it can only be what that is handed, or finds on the object.
  if (others.some((one) => functionOf(one.call) === fn && (one.loss === null || isOfGraph(one.loss))))
    return true;
  const isHandedOut = file
    .all("Return")
    .some(({ value }) => value !== null && functionOf(value) === fn && isOfGraph(value));
  const isHandedOn = facts
    .callsTo("loose")
    .some(
      (one) =>
        functionOf(one) === fn &&
        facts.callee(one)?.reachesBackward === true &&
        one.args.some(({ value }) => isOfGraph(value)),
    );
  const isKept =
    classOf(call) !== null &&
    file
      .all("Assign")
      .some(
        ({ targets, value }) =>
          functionOf(value) === fn && targets.some((to) => selfAttribute(to) !== null) && isOfGraph(value),
      );
  return isHandedOut || isHandedOn || isKept;
}

/** Whether an expression has the graph of one of these, as far as names show; a derivative taken without a graph has none. */
function keepsAny(graph: ReadonlySet<Definition>, expr: Expr, { file }: Facts): boolean {
  const seen = new Set<Definition>();
  let found = false;
  const isCut = (node: Node): boolean =>
    node.kind === "Call" &&
    (file.dotted(node.func) === "torch.autograd.grad"
      ? !isOfHigherOrder(node)
      : node.func.kind === "Attribute" && /^(?:detach|item|tolist|numpy|argmax)$/.test(node.func.attr));
  const follow = (from: Expr): void =>
    walk(from, (node) => {
      if (found || isCut(node)) return false;
      if (node.kind === "Name" && !file.scopes.binds(node))
        for (const one of file.scopes.reaching(node)) {
          if (graph.has(one)) found = true;
          if (found || seen.has(one)) continue;
          seen.add(one);
          if (one.value && one.how !== "param") follow(one.value);
        }
      return true;
    });
  follow(expr);
  return found;
}

function isOfHigherOrder(call: Call): boolean {
  const higher = keyword(call, "create_graph");
  return higher !== null && isTrue(higher.value);
}

/** `[grad(one, weights, retain_graph=True) for one in losses]` goes through what they have in common again and again. */
function isInComprehension(call: Call): boolean {
  for (let at = call.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "Comp" || at.kind === "Lambda") return true;
  return false;
}
