import { classOf, functionOf } from "../../python/nodes.ts";
import type { Call } from "../../python/tree.ts";
import { attributesOf, methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";

/** What a Trainer trains, by the names it has there. */
const ITS_OWN = /^(?:model|model_wrapped|loss\w*|\w*_loss|criterion\w*)$/;

/** Whoever speaks of these may freeze the other network, or have it learn too. */
const CHOOSES = /requires_grad|freeze|frozen|create_optimizer|optimizers?\s*=|\.parameters\(/;

/**
 * `self.big(**inputs)` in the `compute_loss` of a Trainer: of all networks it keeps, only `self.model` is optimised by a Trainer
 * that is left to make its own optimizer.
 */
export function* besideTrained(facts: Facts): Generator<Call> {
  const { file } = facts;
  if (!file.all("FunctionDef").some(({ name }) => name === "compute_loss") || file.says(CHOOSES)) return;
  for (const call of file.all("Call")) {
    const own = selfAttribute(call.func);
    if (own === null || ITS_OWN.test(own) || !call.args.some(({ star }) => star === 2)) continue;
    const fn = functionOf(call);
    const cls = classOf(call);
    if (fn?.kind !== "FunctionDef" || fn.name !== "compute_loss" || !cls || facts.role(cls) !== "trainer")
      continue;
    // The batch as it is, and kept under a name of the class: a network, and none of its methods.
    const batch = fn.params[2]?.name;
    const given = call.args.find(({ star }) => star === 2)!.value;
    if (given.kind !== "Name" || given.id !== batch || methodsOf(cls).some(({ name }) => name === own))
      continue;
    if ((attributesOf(cls, file).get(own)?.writes.length ?? 0) === 0) continue;
    if (lexicalGrad(call, file) === null && facts.gradMode(call) !== "off") yield call;
  }
}
