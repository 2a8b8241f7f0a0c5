import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { FunctionDef } from "../../python/tree.ts";
import { frequency } from "./guards.ts";
import { loopsAround, optimizerSteps } from "./training.ts";

/** Functions that clip gradients each time they are called, and leave the step to who calls them. */
export function clippers(file: PythonFile): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>();
  for (const call of file.callsNamed("clip_grad_norm_", "clip_grad_value_")) {
    const fn = functionOf(call);
    if (
      fn?.kind === "FunctionDef" &&
      fn.parent?.kind === "Module" &&
      (file.dotted(call.func) ?? "").startsWith("torch.nn.utils.") &&
      loopsAround(call).length === 0 &&
      frequency(call, fn, file) === "every" &&
      !file.once(optimizerSteps).some((step) => functionOf(step) === fn)
    )
      found.add(fn);
  }
  return found;
}
