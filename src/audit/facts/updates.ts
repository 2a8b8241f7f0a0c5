import type { PythonFile } from "../../python/file.ts";
import { blockOf, contains } from "../../python/nodes.ts";
import type { Expr, If, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { isSynced } from "./guards.ts";
import { isInLastTurn } from "./last-turns.ts";
import { optimizerSteps } from "./training.ts";
import { skips, skipsAbove } from "./turns.ts";

/** Whether code runs as often as an optimizer steps: once in each update, however many turns of the loop that takes. */

/** On every step, or on every one that the optimizer takes. */
export function everyTurn(node: Node, facts: Facts): boolean {
  return facts.everyStep(node) !== null || everyUpdate(node, facts);
}

/** In the branch of a loop that all its optimizer steps are taken in, on every turn of that: `if (i + 1) % accumulate == 0:`. */
export function everyUpdate(node: Node, facts: Facts): boolean {
  // Or of a method that is as hot: `if self.accumulated >= self.batch_size:`.
  const turn = facts.stepLoop(node) ?? facts.hot(node)?.within ?? null;
  if (!turn) return false;
  const steps = facts.file.once(optimizerSteps).filter((step) => contains(turn, step));
  for (let child = node, at = node.parent; at && at !== turn; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const branch = at.body.includes(child as never) ? at.body : at.orelse;
    // `if accelerator.sync_gradients:` is as often as the optimizer steps.
    const synced = branch === at.body && isSynced(at.test, facts.file);
    if (
      synced ||
      (steps.length > 0 && steps.every((step) => branch.some((statement) => contains(statement, step)))) ||
      takesTurns(at, steps)
    )
      return facts.frequency(node, at) === "every";
  }
  return isBelowSkip(node, turn, steps, facts) || isInLastTurn(node, turn, facts.file);
}

/** `if step % 2 == 0: critic_optimizer.step()`, `else: actor_optimizer.step()`: each turn is a step of one or of the other. */
function takesTurns({ test, body, orelse }: If, steps: readonly Node[]): boolean {
  const isIn = (branch: readonly Node[]): boolean =>
    steps.some((step) => branch.some((statement) => contains(statement, step)));
  const turns = test.kind === "Compare" ? test.left : test;
  const isShort =
    turns.kind === "Binary" &&
    turns.op === "%" &&
    turns.right.kind === "Num" &&
    Number(turns.right.text) === 2;
  return isShort && isIn(body) && isIn(orelse);
}

/** Below an `if (i + 1) % n != 0: continue` that the optimizer's steps are below as well, or `if not accelerator.sync_gradients: continue`. */
function isBelowSkip(node: Node, turn: Node, steps: readonly Node[], facts: Facts): boolean {
  for (let at: Node | null = node; at && at !== turn; at = at.parent) {
    const skip = skipsAbove(at).findLast(
      ({ test }) => facts.file.textOf(test).includes("%") || isUnsynced(test, facts.file),
    );
    if (!skip) continue;
    if (isUnsynced(skip.test, facts.file))
      return (
        at.kind !== "If" &&
        skipsAbove(at).every(({ test }) => isUnsynced(test, facts.file) || !skips(test)) &&
        facts.frequency(node, at) === "every"
      );
    const block = blockOf(at)!;
    return (
      at.kind !== "If" &&
      steps.length > 0 &&
      steps.every((step) => step.start > skip.end && block.some((one) => contains(one, step))) &&
      facts.frequency(node, at) === "every"
    );
  }
  return false;
}

function isUnsynced(test: Expr, file: PythonFile): boolean {
  return test.kind === "Unary" && test.op === "not" && isSynced(test.operand, file);
}

/** In a branch of the step, by default of its loop, that differentiates and steps itself, on every turn of it: `if (i + 1) % n_critic == 0:`. `isByCall`: or calls what does. */
export function ownUpdate(
  node: Node,
  facts: Facts,
  turn: Node | null = facts.stepLoop(node),
  isByCall = false,
): boolean {
  if (!turn) return false;
  for (let child = node, at = node.parent; at && at !== turn; child = at, at = at.parent) {
    if (at.kind !== "If" || child === at.test) continue;
    const branch = at.body.includes(child as never) ? at.body : at.orelse;
    const inside = (one: Node): boolean => branch.some((statement) => contains(statement, one));
    if (
      (facts.backwards.some(({ call }) => inside(call)) &&
        facts.file.once(optimizerSteps).some((step) => inside(step))) ||
      (isByCall && facts.callsTo("loose").some((call) => inside(call) && facts.callee(call)?.loose === true))
    )
      return facts.frequency(node, at) === "every";
  }
  return false;
}
