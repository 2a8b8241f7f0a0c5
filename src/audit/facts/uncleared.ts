import { isNone } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { functionOf, lastWord } from "../../python/nodes.ts";
import type { Assign, Call, FunctionDef, Stmt } from "../../python/tree.ts";
import { isOtherBranch } from "./guards.ts";
import { callsOf } from "./returns.ts";
import { loopsAround } from "./training.ts";
import type { Backward } from "./training.ts";

/** What clears gradients: `optimizer.zero_grad()`, or `p.grad = None` for each of the parameters. */
export type Clearing = Call | Assign;

export function clearings(file: PythonFile): readonly Clearing[] {
  return file.once(clearingsOf);
}

function clearingsOf(file: PythonFile): readonly Clearing[] {
  const calls = file
    .callsNamed("zero_grad")
    .filter(({ func }) => func.kind === "Attribute")
    .flatMap((call) => callsOfClearer(call, file) ?? [call])
    .filter((call, at, all) => all.indexOf(call) === at);
  return file.mentions(".grad") ? [...calls, ...clearedByHand(file)] : calls;
}

/** `self.reset_grad()` for what `def reset_grad(self)` does, and no more: `self.g.zero_grad()`, `self.d.zero_grad()`. */
function callsOfClearer(clear: Call, file: PythonFile): readonly Call[] | null {
  const fn = functionOf(clear);
  if (fn?.kind !== "FunctionDef" || fn.name === "zero_grad" || !fn.body.every(isClearing)) return null;
  const calls = callsOf(fn, file);
  return calls.length > 0 ? calls : null;
}

function isClearing(statement: Stmt): boolean {
  if (statement.kind !== "ExprStmt") return false;
  const { value } = statement;
  return value.kind === "Str" || (value.kind === "Call" && lastWord(value.func) === "zero_grad");
}

/** What is no parameter, as an image that is attacked, is not gone through with all the others. */
function clearedByHand(file: PythonFile): readonly Assign[] {
  return file.all("Assign").filter(({ targets: [target], value }) => {
    if (target?.kind !== "Attribute" || target.attr !== "grad" || !isNone(value)) return false;
    const [loop] = loopsAround(target);
    return (
      loop?.kind === "For" &&
      target.value.kind === "Name" &&
      file.textOf(loop.target) === target.value.id &&
      /param/.test(file.textOf(loop.iter))
    );
  });
}

/** Whether a function clears gradients before a backward each time, `optimizer.zero_grad(); loss.backward()`, and nobody in its file does after one. */
export function leavesGradients(fn: FunctionDef, backwards: readonly Backward[], file: PythonFile): boolean {
  const own = backwards.flatMap(({ call }) => (functionOf(call) === fn ? [call] : []));
  const clears = clearings(file);
  return (
    clears.length > 0 &&
    clears.every(
      (clear) =>
        functionOf(clear) === fn &&
        // What is cleared after the step of one branch is not cleared for the backward of the other.
        own.some((call) => call.start > clear.start && !isOtherBranch(clear, call)),
    )
  );
}
