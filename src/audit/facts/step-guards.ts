import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Call, Expr, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import type { Turn } from "./full-counts.ts";
import { callsOf } from "./returns.ts";
import { loopsAround } from "./training.ts";
import { condition, inWordsOf, namesOf } from "./turn-conditions.ts";
import type { Condition } from "./turn-conditions.ts";
import { skipsAbove } from "./turns.ts";

/** Under which test the optimizer steps, here or in a function that every turn calls, in the words of the loop. */

/**
 * `step % n == 0` below a `step += 1` is `(step + 1) % n == 0` where the flag is set above that: in the words of the flag, or
 * null where these do not say it.
 */
export function countedOn(
  stepped: Condition,
  flag: Expr,
  guard: Expr,
  loop: Turn,
  facts: Facts,
): Condition | null {
  const { file } = facts;
  const [from, to] = [askedAt(flag, file).end, askedAt(guard, file).start];
  const isBetween = (one: Node): boolean => one.start > from && one.end < to && contains(loop, one);
  const counts: Count[] = file
    .all("AugAssign")
    .filter(isBetween)
    .map((at) => ({ at, target: at.target, byOne: at.op === "+" && isOne(at.value) }));
  // `step = step + 1`
  for (const at of file.all("Assign"))
    if (isBetween(at) && at.targets.length === 1 && at.targets[0]!.kind === "Name")
      counts.push({ at, target: at.targets[0]!, byOne: isOneMore(at.value, at.targets[0]!.id) });
  const [one, ...more] = counts.filter(({ target }) => mentions(stepped.of, file.textOf(target)));
  if (!one) return stepped;
  if (!one.byOne || more.length > 0 || facts.frequency(one.at, loop) !== "every") return null;
  const counter = file.textOf(one.target);
  if (stepped.of === counter) return { ...stepped, of: `${counter} + 1` };
  return stepped.of === `${counter} + 1` ? { ...stepped, of: `${counter} + 2` } : null;
}

interface Count {
  readonly at: Node;
  readonly target: Expr;
  readonly byOne: boolean;
}

const isOne = (expr: Expr): boolean => expr.kind === "Num" && expr.text === "1";

function isOneMore(value: Expr, name: string): boolean {
  const isName = (expr: Expr): boolean => expr.kind === "Name" && expr.id === name;
  return (
    value.kind === "Binary" &&
    value.op === "+" &&
    ((isName(value.left) && isOne(value.right)) || (isOne(value.left) && isName(value.right)))
  );
}

/** Where a test is asked: that of a name, where it was given its value. */
export function askedAt(test: Expr, file: PythonFile): Expr {
  if (test.kind === "Unary") return askedAt(test.operand, file);
  return test.kind === "Name" ? (file.scopes.onlyValue(test) ?? test) : test;
}

export function mentions(text: string, name: string): boolean {
  return text.split(/[^\w.]+/).includes(name);
}

/** When a function of this file steps that every turn calls, `self.optimizer_step(i)`, in the words of the loop. */
export function steppedElsewhere(step: Call, loop: Turn, facts: Facts): Condition | null {
  const { file } = facts;
  const fn = functionOf(step);
  const guard = fn?.kind === "FunctionDef" && fn !== loop ? guardOf(step, facts) : null;
  if (fn?.kind !== "FunctionDef" || !guard || loopsAround(step).length > 0) return null;
  const call = callsOf(fn, file).find((one) => contains(loop, one) && facts.frequency(one, loop) === "every");
  const stepped = call ? condition(guard.test, guard.when, facts) : null;
  return call && stepped ? inWordsOf(call, namesOf(fn), stepped, file) : null;
}

/** The test around the optimizer's step, and which of its branches the step is in. */
export function guardOf(step: Expr, facts: Facts): { readonly test: Expr; readonly when: boolean } | null {
  for (let child: Node = step, at = step.parent; at; child = at, at = at.parent) {
    // `if (i + 1) % n != 0: continue` above it.
    const skipped = skipsAbove(child).findLast(
      (one) => one.orelse.length === 0 && condition(one.test, false, facts) !== null,
    );
    if (skipped) return { test: skipped.test, when: false };
    if (at.kind === "For" || at.kind === "While" || at.kind === "FunctionDef") return null;
    if (at.kind === "If" && child !== at.test && condition(at.test, true, facts) !== null)
      return { test: at.test, when: !at.orelse.includes(child as never) };
    if (at.kind === "If" && child !== at.test && at.test.kind === "Name")
      return { test: at.test, when: !at.orelse.includes(child as never) };
  }
  return null;
}
