import { contains } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { loopsAround } from "./training.ts";

/** A loss, not its weight. */
const LOSS = /^(?:\w+_)?loss$/i;

/**
 * `loss` of `self.agent.update(loss)`, by a function of the tree that differentiates and steps: computed in the same turn. What
 * is made once for all turns, and is called so too, computes them.
 */
export function lossesStepped(facts: Facts): readonly Expr[] {
  return facts.callsTo("loose").flatMap((call) => {
    const [loop] = loopsAround(call);
    const given = loop ? call.args.find(({ value }) => isComputed(value, loop, facts)) : undefined;
    const callee = given ? facts.callee(call) : null;
    return given && callee?.loose && callee.reachesBackward ? [given.value] : [];
  });
}

function isComputed(value: Expr, loop: ReturnType<typeof loopsAround>[number], { file }: Facts): boolean {
  const made = value.kind === "Name" && LOSS.test(value.id) ? file.scopes.reaching(value) : [];
  return (
    made.length > 0 &&
    made.every(({ node, value: by }) => contains(loop, node) && by !== null && isOfGiven(by))
  );
}

/** Computed of something, or of others: `Loss()` makes what computes. */
function isOfGiven(by: Expr): boolean {
  return by.kind === "Call"
    ? by.args.length > 0 || isMethod(by)
    : by.kind === "Binary" || by.kind === "Unary";
}

/** `errors.mean()` */
function isMethod({ func }: Call): boolean {
  return func.kind === "Attribute";
}
