import { positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { blockOf, contains } from "../../python/nodes.ts";
import type { Expr, For, Node } from "../../python/tree.ts";
import { frequency } from "./guards.ts";
import { isFlag } from "./switches.ts";
import { optimizerSteps } from "./training.ts";

/** `if i == n - 1:` in `for i in range(n):` over the micro-batches of one step, which is taken below that loop. */
export function isInLastTurn(node: Node, turn: Node, file: PythonFile): boolean {
  if (turn.kind !== "For") return false;
  const block = blockOf(turn) ?? [];
  const steps = file.once(optimizerSteps);
  const isBelow = block.some((one) => one.start > turn.end && steps.some((step) => contains(one, step)));
  if (!isBelow || steps.some((step) => contains(turn, step))) return false;
  for (let child = node, at = node.parent; at && at !== turn; child = at, at = at.parent)
    if (at.kind === "If" && at.body.includes(child as never) && isForLast(at.test, turn, file))
      return frequency(node, at, file) === "every";
  return false;
}

/** Asks for the last turn of a loop, perhaps beside a setting: `i == n - 1 and args.clip > 0`. */
function isForLast(test: Expr, loop: For, file: PythonFile): boolean {
  if (test.kind === "Bool" && test.op === "and")
    return (
      test.values.some((one) => isForLast(one, loop, file)) &&
      test.values.every((one) => isFlag(one) || isForLast(one, loop, file))
    );
  const asked = test.kind === "Name" ? file.scopes.onlyValue(test) : test;
  const [right] = asked?.kind === "Compare" && asked.ops.join() === "==" ? asked.rights : [];
  if (asked?.kind !== "Compare" || !right) return false;
  const [counter, turns] = countedBy(loop, file);
  const [left, end] = [asked.left, right].map((side) => file.textOf(side).replace(/[\s()]/g, ""));
  const isOne = (a: string | undefined, b: string | undefined): boolean =>
    (a === counter && b === `${turns}-1`) || (a === `${counter}+1` && b === turns);
  return counter !== null && (isOne(left, end) || isOne(end, left));
}

/** The counter of a loop and how many turns it makes, as they are written: of `for i, part in enumerate(parts):` these are `i` and `lenparts`. */
function countedBy({ target, iter }: For, file: PythonFile): readonly [string | null, string] {
  const name = iter.kind === "Call" ? file.dotted(iter.func) : null;
  const given = iter.kind === "Call" && iter.args.length === 1 ? positional(iter, 0) : null;
  const text = given ? file.textOf(given).replace(/[\s()]/g, "") : "";
  if (name === "builtins.range" && given && target.kind === "Name") return [target.id, text];
  const [first] = name === "builtins.enumerate" && given && target.kind === "Tuple" ? target.items : [];
  return first?.kind === "Name" ? [first.id, `len${text}`] : [null, ""];
}
