import { contains, functionOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isBlank, isInvariant } from "./invariants.ts";
import { isNetwork, unwrapped } from "./networks.ts";
import type { Loop } from "./training.ts";
import { DRAWS, bare, isSettled, methodOf } from "./untrained.ts";

/** What a file that trains nothing is asked about: the methods and functions that encode what the batches are held against. */
export const EVALUATED = /^\w*(?:encode|features|embed|classifier|prototype)\w*$/;

/**
 * `for images, _ in val_loader: classes = model.encode_text(prompts)`: in eval mode, without gradients, and nothing trains it
 * meanwhile. What `for _ in range(n)` runs again may be timed, or drawn anew each time.
 */
export function isOfEvaluation(call: Call, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  if (loop.kind !== "For" || call.args.length === 0 || facts.gradMode(call) !== "off") return false;
  if (/\b(?:range|trange|count|repeat)\(/.test(file.textOf(loop.iter))) return false;
  const run = evaluatedBy(call, facts);
  return (
    run !== null &&
    call.parent?.kind !== "ExprStmt" &&
    !call.args.some(({ value }) => isBlank(value, facts)) &&
    isInvariant(call, loop, facts) &&
    facts.frequency(call, loop) === "every" &&
    [run, ...call.args.map(({ value }) => bare(value))].every((one) => isSettled(one, loop, facts)) &&
    isInEvalMode(run, loop, facts) &&
    !trainsIn(loop, facts)
  );
}

/** The network that a call runs itself, or that it gives to a function which encodes with it: `class_embeddings(model, names)`. */
function evaluatedBy(call: Call, facts: Facts): Expr | null {
  const { func } = call;
  if (func.kind !== "Name" && func.kind !== "Attribute") return null;
  const asked = isNetwork(func, facts) ? func : methodOf(func);
  const run = asked && unwrapped(asked);
  if (run) return isNetwork(run, facts) ? run : null;
  const word = lastWord(func);
  if (facts.file.dotted(func) === null || !EVALUATED.test(word) || DRAWS.test(word)) return null;
  const [given] = call.args;
  return given?.value.kind === "Name" && isNetwork(given.value, facts) ? given.value : null;
}

/** `model.eval()` before the loop, in the same function, or frozen anywhere. */
function isInEvalMode(run: Expr, loop: Loop, facts: Facts): boolean {
  const { file } = facts;
  const fn = functionOf(loop);
  return (
    facts.networks.isFrozen(run) ||
    file
      .callsNamed("eval")
      .some(
        (one) =>
          one.func.kind === "Attribute" &&
          functionOf(one) === fn &&
          one.start < loop.start &&
          file.textOf(unwrapped(one.func.value)) === file.textOf(run),
      )
  );
}

/** A backward, a step of an optimizer, or a call of what has one. */
function trainsIn(loop: Loop, facts: Facts): boolean {
  return facts.file
    .all("Call")
    .some(
      (one) =>
        contains(loop, one) &&
        (/^(?:backward|step|train)$/.test(lastWord(one.func)) || facts.callee(one)?.reachesBackward === true),
    );
}
