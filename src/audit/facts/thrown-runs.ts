import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Node } from "../../python/tree.ts";
import { DIFFERENTIATES } from "./evaluation-calls.ts";
import type { Facts } from "./facts.ts";
import { iteratedText } from "./loaders.ts";
import { unrecorded } from "./looks.ts";
import { isNetwork } from "./networks.ts";
import { loopsAround } from "./training.ts";

/** What a loop over batches goes through. */
const BATCHES = /load|_dl\b|batch|data/i;

/**
 * `for x, _ in loader: model(x)`, of which nothing is kept: it is run for what its layers note on the way, as the statistics of
 * its normalizations or what hooks and observers see. The graph goes with the result, and all activations are kept until then.
 */
export function* thrownRuns(facts: Facts): Generator<Call> {
  const { file } = facts;
  for (const { value: call } of file.all("ExprStmt")) {
    if (call.kind !== "Call" || call.args.length === 0) continue;
    if (call.func.kind !== "Name" && call.func.kind !== "Attribute") continue;
    const [loop] = loopsAround(call);
    if (loop?.kind !== "For" || !BATCHES.test(iteratedText(loop.iter, file))) continue;
    if (!isNetwork(call.func, facts) || facts.networks.isLoss(call.func)) continue;
    if (facts.networks.isFrozen(call.func) || facts.networks.isFrozenByFlags(call.func)) continue;
    // What differentiates by itself, or is read elsewhere and differentiated in the same loop.
    if (facts.callee(call)?.reachesBackward === true || facts.stepLoop(call) !== null) continue;
    if (
      isBesideBackward(loop, facts) ||
      /trainer|engine|runner|solver|agent|learner/i.test(lastWord(call.func))
    )
      continue;
    if (DIFFERENTIATES.test(file.codeOf(functionOf(call) ?? loop))) continue;
    if (unrecorded(call, facts)) continue;
    yield call;
  }
}

/** Or in another loop of the function, over what this one has left on the network. */
function isBesideBackward(loop: Node, { backwards }: Facts): boolean {
  const fn = functionOf(loop);
  return fn !== null && backwards.some(({ call }) => functionOf(call) === fn);
}
