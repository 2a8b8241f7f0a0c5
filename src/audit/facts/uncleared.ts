import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { FunctionDef } from "../../python/tree.ts";
import { isOtherBranch } from "./guards.ts";
import type { Backward } from "./training.ts";

/** Whether a function clears gradients before a backward each time, `optimizer.zero_grad(); loss.backward()`, and nobody in its file does after one. */
export function leavesGradients(fn: FunctionDef, backwards: readonly Backward[], file: PythonFile): boolean {
  const own = backwards.flatMap(({ call }) => (functionOf(call) === fn ? [call] : []));
  const clears = file.callsNamed("zero_grad").filter(({ func }) => func.kind === "Attribute");
  return (
    clears.length > 0 &&
    clears.every(
      (clear) =>
        functionOf(clear) === fn &&
        // What is cleared after the step of one branch is not cleared for the backward of the other.
        own.some((call) => call.start > clear.start && !isOtherBranch(clear, call)),
    ) &&
    !file.says(/\.grad = None/)
  );
}
