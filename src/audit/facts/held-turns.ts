import { contains, walk } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { beginning } from "./full-counts.ts";
import type { Turn } from "./full-counts.ts";
import { askedAt, guardOf, mentions } from "./step-guards.ts";
import { stepsRightAfter } from "./steps-of-turns.ts";
import { loopsAround, optimizerSteps } from "./training.ts";
import { condition } from "./turn-conditions.ts";
import type { Condition } from "./turn-conditions.ts";

/** In which turns of a loop over the parts of one step a test holds: in none, in all but the last, in the first, in all alike. */

/** Not the same test, as the optimizer steps under one and ranks exchange gradients under the other. */
export function differ(synced: Condition, stepped: Condition): boolean {
  // `seen == n - 1` above a `seen += 1` is `seen == n` below it.
  const isShifted =
    synced.by === "" && stepped.of === `${synced.of} + 1` && synced.is === `${stepped.is} - 1`;
  return (
    synced.by === stepped.by &&
    !(isShifted && synced.holds === stepped.holds) &&
    (synced.of !== stepped.of || synced.is !== stepped.is || synced.holds !== stepped.holds)
  );
}

/** `micro == n` or `micro >= n` in a loop over `range(n)` or `range(0, n, size)`, or by the name it was given. */
export function neverHolds(test: Expr, when: boolean, loop: Turn, facts: Facts, depth = 0): boolean {
  const { file } = facts;
  if (depth > 4 || loop.kind !== "For" || loop.iter.kind !== "Call") return false;
  const again = (expr: Expr, then: boolean): boolean => neverHolds(expr, then, loop, facts, depth + 1);
  if (test.kind === "Unary" && test.op === "not") return again(test.operand, !when);
  if (test.kind === "Name") {
    const value = file.scopes.onlyValue(test);
    return value !== null && again(value, when);
  }
  // `last or not distributed`: the first is what is counted.
  if (test.kind === "Bool" && test.op === "or" && when) return again(test.values[0]!, when);
  const [right, ...more] = test.kind === "Compare" ? test.rights : [];
  if (test.kind !== "Compare" || !right || more.length > 0) return false;
  const { args } = loop.iter;
  const stop = args[args.length === 1 ? 0 : 1];
  if (!stop || args.length > 3 || file.dotted(loop.iter.func) !== "builtins.range") return false;
  // Counted downwards it begins there.
  if (args[2]?.value.kind === "Unary") return false;
  return (
    (when ? /^(?:==|>=?)$/ : /^(?:!=|<=?)$/).test(test.ops[0]!) &&
    file.textOf(test.left) === file.textOf(loop.target) &&
    file.textOf(right) === file.textOf(stop.value)
  );
}

/** `micro == 0` in a loop over `range(n)` that the optimizer steps after. */
export function isNotLast({ of, by, is, holds }: Condition, loop: Turn, facts: Facts): boolean {
  if (!holds || loop.kind !== "For" || loop.iter.kind !== "Call") return false;
  const [count] = loop.iter.args;
  // `micro % n == 1` in it is `micro == 1`.
  if (by !== "" && !(count && facts.file.textOf(count.value) === by)) return false;
  const name = facts.file.dotted(loop.iter.func);
  // `for i, part in enumerate(parts)`: the first is hardly ever the last.
  const counter =
    name === "builtins.enumerate" && loop.target.kind === "Tuple" ? loop.target.items[0]! : loop.target;
  if (
    !count ||
    loop.iter.args.length !== 1 ||
    !(name === "builtins.range" || (name === "builtins.enumerate" && is === "0")) ||
    facts.file.textOf(counter) !== of ||
    !/^\d+$/.test(is)
  )
    return false;
  const last = count.value.kind === "Num" ? String(Number(count.value.text) - 1) : null;
  return is !== last && stepsRightAfter(loop, facts);
}

/**
 * `seen % n == 0` above `seen += 1`, of a `seen` that begins at zero, in a loop over the parts of one step: it holds in the first
 * of them. Below, it holds in the last; and `(seen + 1) % n == 0` the other way round.
 */
export function isCountedApart(
  { of, by, is, holds }: Condition,
  test: Expr,
  loop: Turn,
  facts: Facts,
): boolean {
  const { file } = facts;
  const counter = of.replace(/ \+ 1$/, "");
  const grows = file
    .all("AugAssign")
    .filter((one) => contains(loop, one) && file.textOf(one.target) === counter);
  const [grown, ...more] = grows;
  if (by === "" || is !== "0" || !holds || loop.kind !== "For" || !grown || more.length > 0) return false;
  if (grown.op !== "+" || file.textOf(grown.value) !== "1" || !stepsRightAfter(loop, facts)) return false;
  if (facts.frequency(grown, loop) !== "every" || beginning(grown.target, loop, file) !== 0) return false;
  // One of both adds the one by which the last of n turns is counted n.
  const isBelow = grown.end <= askedAt(test, file).start;
  return isBelow === (of !== counter);
}

/**
 * `step % n == 0` in a loop over `range(n)` that counts otherwise: `step` is of the loop around, by `for step in …` or by a
 * `step += 1` beside this loop.
 */
export function isOfOuterLoop(synced: Condition, asked: readonly Expr[], loop: Turn, facts: Facts): boolean {
  const { file } = facts;
  if (synced.by === "" || loop.kind !== "For" || loop.iter.kind !== "Call") return false;
  const [count, ...more] = loop.iter.args;
  const [outer] = loopsAround(loop);
  if (!count || more.length > 0 || !outer || file.dotted(loop.iter.func) !== "builtins.range") return false;
  const steps = optimizerSteps(file);
  if (file.textOf(count.value) !== synced.by || steps.some((step) => contains(loop, step))) return false;
  // `if (step + 1) % n == 0: optimizer.step()` below it asks the same.
  const isAskedAlike = (step: Call): boolean => {
    const guard = guardOf(step, facts);
    const stepped = guard && condition(guard.test, guard.when, facts);
    return stepped !== null && stepped.by === synced.by && !differ(synced, stepped);
  };
  if (steps.some((step) => contains(outer, step) && isAskedAlike(step))) return false;
  let changes = false;
  let counted = false;
  const look = (node: Node): void => {
    // `self.step`, which one place of the file counts on.
    if (node.kind === "Attribute" && mentions(synced.of, file.textOf(node))) {
      const [grown, ...others] = file
        .all("AugAssign")
        .filter(({ target }) => file.textOf(target) === file.textOf(node));
      if (!grown || others.length > 0) return;
      changes ||= contains(loop, grown);
      counted ||= contains(outer, grown);
    }
    if (node.kind !== "Name") return;
    for (const { how, node: made } of file.scopes.reaching(node)) {
      changes ||= contains(loop, made);
      counted ||=
        (outer.kind === "For" && contains(outer.target, made)) ||
        (how === "augment" && contains(outer, made) && mentions(synced.of, node.id));
    }
  };
  for (const one of asked) walk(one, look);
  return counted && !changes;
}

/** `micro != n - 1` in a loop over `range(n)`: the last turn, after which the optimizer steps, is the one left out. */
export function isAllButLast({ of, by, is, holds }: Condition, loop: Turn, { file }: Facts): boolean {
  if (by !== "" || holds || loop.kind !== "For" || loop.iter.kind !== "Call") return false;
  return (
    loop.iter.args.length === 1 &&
    file.dotted(loop.iter.func) === "builtins.range" &&
    file.textOf(loop.target) === of &&
    `${file.textOf(loop.iter.args[0]!.value)} - 1` === is
  );
}
