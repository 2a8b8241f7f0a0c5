import { contains, functionOf } from "../../python/nodes.ts";
import type { Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { callsOf } from "./returns.ts";

/**
 * Above a loop of steps that learn from what was made here, in each round of those: `scores = reference.forward(taken)`, then
 * `for _ in range(passes): update(policy, taken, scores)`. What is recorded lives as long as all the steps of its round.
 */
export function everyRound(node: Node, facts: Facts): boolean {
  const fn = functionOf(node);
  return (
    [...facts.stepLoops].some(
      (loop) => loop.start > node.end && functionOf(loop) === fn && !contains(loop, node),
    ) &&
    facts.stepLoop(node) === null &&
    facts.everyEpoch(node)
  );
}

/** There, or in a function of this file that is called nowhere else, whenever that is called. */
export function everyRoundOf(node: Node, facts: Facts): boolean {
  if (everyRound(node, facts)) return true;
  const fn = functionOf(node);
  const calls = fn?.kind === "FunctionDef" ? callsOf(fn, facts.file) : [];
  return (
    calls.length > 0 &&
    facts.frequency(node, fn!) === "every" &&
    calls.every((call) => everyRound(call, facts))
  );
}
