import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, lastWord, walk } from "../../python/nodes.ts";
import type { Expr, FunctionDef, If, Node } from "../../python/tree.ts";
import { callTarget } from "./summary.ts";
import { WAITS } from "./timers.ts";
import { loopsAround } from "./training.ts";
import { COUNTER, isNamedThrottle } from "./turns.ts";

/**
 * What runs each time that `timed` does: without what `if step % 100 == 0:` holds, which waits for the device in so few of the
 * turns that the others are timed wrongly. In a loop of its own, that one wait is for all the turns before it.
 */
export function codeOfEachTurn(
  { start, end }: { readonly start: number; readonly end: number },
  timed: Node | null,
  file: PythonFile,
): string {
  if (timed === null) return file.codeOf({ start, end });
  let code = "";
  let from = start;
  for (const branch of file.all("If")) {
    if (branch.start < from || branch.end > end || !isNowAndThen(branch) || isRepeated(branch, timed))
      continue;
    code += file.codeOf({ start: from, end: branch.body[0]!.start });
    from = branch.body[branch.body.length - 1]!.end;
  }
  return code + file.codeOf({ start: from, end });
}

/** In a loop that what is timed is not in as well. */
export function isRepeated(node: Node, timed: Node): boolean {
  return loopsAround(node).some((loop) => !contains(loop, timed));
}

/** `if step % 100 == 0:`, `if not step % 100:`, also by a name that is set so above. */
export function isNowAndThen(branch: If): boolean {
  const { test } = branch;
  return comesRoundIn(test) || (test.kind === "Name" && isNamedThrottle(test.id, branch, comesRoundIn));
}

function comesRoundIn(test: Expr): boolean {
  if (test.kind === "Bool")
    return (
      test.values.some(comesRoundIn) &&
      (test.op === "and" || test.values.every((one) => comesRoundIn(one) || isOneTurn(one)))
    );
  if (test.kind === "Unary") return test.op === "not" && isRemainder(test.operand);
  return isEquality(test) && isRemainder(test.left);
}

function isRemainder(expr: Expr): boolean {
  return expr.kind === "Binary" && expr.op === "%" && expr.left.kind !== "Str";
}

function isEquality(test: Expr): test is Expr & { kind: "Compare" } {
  return test.kind === "Compare" && test.ops.length === 1 && test.ops[0] === "==";
}

/**
 * One turn of them all, as in `if step % 250 == 0 or last_step:`, `or step + 1 == total`. A rank is no turn: `rank == 0` holds
 * in all the turns of that process; so does the number of an epoch in all of its steps.
 */
function isOneTurn(test: Expr): boolean {
  if (test.kind === "Bool") return test.op === "and" && test.values.some(isOneTurn);
  if (test.kind === "Name" || test.kind === "Attribute")
    return /(?:^|_)(?:first|last|final)(?:_|$)/.test(lastWord(test));
  if (!isEquality(test)) return false;
  const counted = lastWord(test.left.kind === "Binary" ? test.left.left : test.left);
  return COUNTER.test(counted) && !counted.includes("epoch");
}

/** Functions that call what they are handed, `net(x)`, by themselves or by handing it on to one of this file that does. */
export function callsGiven(file: PythonFile): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>();
  for (const call of file.all("Call")) {
    const fn = call.func.kind === "Name" ? functionOf(call) : null;
    const { func } = call;
    if (fn?.kind === "FunctionDef" && func.kind === "Name" && fn.params.some(({ name }) => name === func.id))
      found.add(fn);
  }
  // What is found on the way is gone through as well.
  for (const to of found)
    for (const call of file.callsNamed(to.name)) {
      const fn = functionOf(call);
      const isGiven = (value: Expr): boolean =>
        value.kind === "Name" && fn!.params.some(({ name }) => name === value.id);
      if (fn?.kind === "FunctionDef" && callTarget(call, file) === file.qualified(to))
        if (call.args.some(({ value }) => isGiven(value))) found.add(fn);
    }
  return found;
}

/** Whether a function waits, or one of this file that it calls; `eachTurn`: what it does only now and then is no waiting. */
export function waitsBelow(
  fn: FunctionDef,
  eachTurn: boolean,
  file: PythonFile,
  seen: Set<FunctionDef> = new Set(),
): boolean {
  if (seen.has(fn)) return false;
  seen.add(fn);
  if (WAITS.test(eachTurn ? codeOfEachTurn(fn, fn, file) : file.codeOf(fn))) return true;
  let waits = false;
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (eachTurn && isDoneNowAndThen(node, fn)) return false;
      const target = node.kind === "Call" && !waits ? callTarget(node, file) : null;
      const called = file.functionNamed(target);
      waits ||= called !== undefined && waitsBelow(called, eachTurn && !isRepeated(node, fn), file, seen);
      return !waits;
    });
  return waits;
}

/** A statement that stands under `if step % 100 == 0:`. */
function isDoneNowAndThen(node: Node, fn: FunctionDef): boolean {
  const { parent } = node;
  return (
    parent?.kind === "If" &&
    parent.body.some((one) => one === node) &&
    isNowAndThen(parent) &&
    !isRepeated(parent, fn)
  );
}
