import { isTrue, keyword, positional } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Arg, Call } from "../../python/tree.ts";
import { runsBehind } from "./behind-loss.ts";
import { isAlwaysOn } from "./settled-flags.ts";
import type { Facts } from "./facts.ts";
import { carriedNames } from "./networks.ts";
import { loopsAround } from "./training.ts";
import { isState } from "./wanted-graphs.ts";

/**
 * `torch.autograd.grad(loss, parameters, retain_graph=True)` where nothing else in the file differentiates: the graph that this
 * turn's run recorded is gone through once.
 */
export function* retainedGrads(facts: Facts): Generator<{ readonly call: Call; readonly flag: Arg }> {
  const { backwards, file } = facts;
  if (backwards.length > 0) return;
  const [call, ...more] = file
    .callsNamed("grad")
    .filter(({ func }) => file.dotted(func) === "torch.autograd.grad");
  const flag = call && keyword(call, "retain_graph");
  const loss = call && positional(call, 0);
  if (!call || more.length > 0 || !flag || !isAlwaysOn(flag.value, facts) || loss?.kind !== "Name") return;
  const higher = keyword(call, "create_graph");
  // What reads a derivative by a hook or by a second one is not seen here.
  if ((higher && isTrue(higher.value)) || /register_hook|func\.(?:grad|vjp|jvp)/.test(file.code)) return;
  const loop = loopsAround(call)[0];
  const within = loop ?? functionOf(call);
  const runs = runsBehind(loss, facts, true);
  if (!within || !facts.hot(call) || runs.length === 0 || !runs.every((run) => contains(within, run))) return;
  if (isInComprehension(call)) return;
  if (loop && [...carriedNames(loop, loop, facts)].some((name) => isState(name, loss, loop, facts))) return;
  yield { call, flag };
}

/** `[grad(one, weights, retain_graph=True) for one in losses]` goes through what they have in common again and again. */
function isInComprehension(call: Call): boolean {
  for (let at = call.parent; at && at.kind !== "FunctionDef"; at = at.parent)
    if (at.kind === "Comp" || at.kind === "Lambda") return true;
  return false;
}
