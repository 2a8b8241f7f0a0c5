import type { PythonFile } from "../../python/file.ts";
import { ancestors, classOf, contains, walk } from "../../python/nodes.ts";
import type { Expr, If, Node } from "../../python/tree.ts";
import { methodsOf, selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { callTarget } from "./summary.ts";
import { skipsAbove } from "./turns.ts";

/** What keeps a step from being taken in every turn. */
export interface Throttle {
  readonly test: Expr;
  /** After how many turns. */
  readonly by: Expr;
  readonly branch: Node;
  /** By a count that goes on: what one epoch leaves over counts in the next. */
  readonly goesOn?: boolean;
}

/** The innermost `if (i + 1) % n == 0` around the step, or a counter that is compared with n and set back. */
export function throttleOf(step: Expr, loop: Node, facts: Facts): Throttle | null {
  for (const at of [step, ...ancestors(step)]) {
    if (at === loop) return null;
    const left = leftBefore(at);
    if (left) return left;
    if (at.kind !== "If" || !at.body.some((one) => contains(one, step))) continue;
    // `last = (i + 1) % n == 0` above it says the same.
    // So does `accumulating = (i + 1) % n != 0`, of `if not accumulating:`.
    const asked = at.test.kind === "Unary" && at.test.op === "not" ? at.test.operand : at.test;
    const named = asked.kind === "Name" ? facts.file.scopes.reaching(asked) : [];
    const test =
      named.length === 1 && named[0]!.how === "assign" && named[0]!.value
        ? named[0]!.value
        : (propertyOf(asked) ?? helperOf(asked, facts) ?? asked);
    let by: Expr | null = null;
    walk(test, (node) => {
      if (node.kind === "Binary" && node.op === "%" && node.left.kind !== "Str") by ??= node.right;
    });
    by ??= countedTo(test, at, loop, facts);
    if (by) return { test, by, branch: at };
    const since = sinceLast(test, at, facts.file);
    if (since) return { test, by: since.by, branch: at, goesOn: true };
  }
  return null;
}

/** What `should_step(i, n)` or `self.should_step(i)` returns, a function of this file that does nothing else. */
function helperOf(test: Expr, { file }: Facts): Expr | null {
  if (test.kind !== "Call") return null;
  const name = callTarget(test, file);
  const fn = file.functionNamed(name);
  const [only] = fn?.body.length === 1 ? fn.body : [];
  return only?.kind === "Return" ? only.value : null;
}

/** What `self.boundary` returns, a property of the class. */
function propertyOf(test: Expr): Expr | null {
  const own = selfAttribute(test);
  const cls = own === null ? null : classOf(test);
  const fn = cls && methodsOf(cls).find(({ name }) => name === own);
  const [only] = fn ? fn.body.slice(-1) : [];
  return only?.kind === "Return" && fn!.decorators.length === 1 ? only.value : null;
}

/** `if i % n: continue` above it. */
function leftBefore(at: Node): Throttle | null {
  for (const before of skipsAbove(at)) {
    let by: Expr | null = null;
    walk(before.test, (node) => {
      if (node.kind === "Binary" && node.op === "%" && node.left.kind !== "Str") by ??= node.right;
    });
    if (by) return { test: before.test, by, branch: before };
  }
  return null;
}

/** `if seen == n:`, where `seen` grows by one in each turn and begins again in here. */
export function countedTo(test: Expr, branch: If, loop: Node, { file }: Facts): Expr | null {
  const [right] = test.kind === "Compare" ? test.rights : [];
  if (test.kind !== "Compare" || !right || test.rights.length !== 1 || !/^(?:==|>=)$/.test(test.ops[0]!))
    return null;
  const counter = file.textOf(test.left);
  const grows = file
    .all("AugAssign")
    .some((one) => one.op === "+" && contains(loop, one) && file.textOf(one.target) === counter);
  const begins = file
    .all("Assign")
    .some(
      (one) =>
        contains(branch, one) &&
        one.targets.some((target) => file.textOf(target) === counter) &&
        one.value.kind === "Num" &&
        one.value.text === "0",
    );
  return grows && begins ? right : null;
}

/** How far a count has got since the last step. */
export interface SinceLast {
  /** `seen` of `seen - last >= n`. */
  readonly count: Expr;
  readonly last: Expr;
  readonly by: Expr;
}

/** `if seen - last >= n:` or `if seen >= last + n:`, and `last = seen` in there; the difference may have a name. */
export function sinceLast(test: Expr, branch: If, file: PythonFile): SinceLast | null {
  const [right, ...more] = test.kind === "Compare" ? test.rights : [];
  if (test.kind !== "Compare" || !right || more.length > 0 || !/^(?:==|>=)$/.test(test.ops[0]!)) return null;
  const left = test.left.kind === "Name" ? (file.scopes.onlyValue(test.left) ?? test.left) : test.left;
  const isLast = (last: Expr, count: Expr): boolean =>
    file
      .all("Assign")
      .some(
        ({ parent, targets: [target], value }) =>
          parent === branch &&
          target &&
          file.textOf(target) === file.textOf(last) &&
          file.textOf(value) === file.textOf(count),
      );
  if (left.kind === "Binary" && left.op === "-" && isLast(left.right, left.left))
    return { count: left.left, last: left.right, by: right };
  if (right.kind !== "Binary" || right.op !== "+") return null;
  if (isLast(right.left, left)) return { count: left, last: right.left, by: right.right };
  return isLast(right.right, left) ? { count: left, last: right.right, by: right.left } : null;
}
