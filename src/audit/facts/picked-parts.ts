import { contains, lastWord, walk } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isInvariant } from "./invariants.ts";
import { isNetwork, ranNetwork } from "./networks.ts";
import type { Loop } from "./training.ts";
import { bare, isSettled } from "./untrained.ts";

/**
 * `for name in layers: loss = loss + gap(self.vgg(x)[name], self.vgg(y)[name])`: all that a turn takes of the result is what
 * it is turned to, so that one run would do for all. Nothing is trained in between.
 */
export function isPickedFrom(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  if (loop.kind !== "For" || call.args.length === 0) return false;
  const turned = new Set<string>();
  walk(loop.target, (node) => {
    if (node.kind === "Name") turned.add(node.id);
    return true;
  });
  const isTurned = (index: Expr): boolean => {
    let found = false;
    walk(index, (node) => {
      found ||= node.kind === "Name" && turned.has(node.id);
      return !found;
    });
    return found;
  };
  const isPick = ({ parent }: Expr): boolean => parent?.kind === "Subscript" && isTurned(parent.index);
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const named = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  const uses = named ? file.scopes.uses(named) : [];
  return (
    (named ? uses.length > 0 && uses.every(isPick) : isPick(call)) &&
    (ranNetwork(call, facts) !== null || isScored(call, facts)) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, loop) === "every" &&
    [call.func, ...call.args.map(({ value }) => bare(value))].every((one) => isSettled(one, loop, facts)) &&
    !file
      .all("Call")
      .some(
        (one) =>
          contains(loop, one) &&
          (/^(?:backward|step|train)$/.test(lastWord(one.func)) ||
            facts.callee(one)?.reachesBackward === true),
      )
  );
}

/** `policy_ref.log_prob(ids)`, of a network that scores what it is given. */
function isScored({ func, args }: Call, facts: Facts): boolean {
  return (
    func.kind === "Attribute" &&
    /^(?:log_?probs?|get_(?:batch_)?log_?p(?:s|robs?)|logits|scores?)$/.test(func.attr) &&
    args.length > 0 &&
    isNetwork(func.value, facts)
  );
}
