import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { FunctionDef } from "../../python/tree.ts";
import { loopsAround } from "./training.ts";
import type { Backward, Loop } from "./training.ts";

/**
 * Loops that hand a function of this file, which takes one step, to somebody who calls it: `(loss, rate), ms = timed(train_step)`,
 * `run_with_retries(train_step, batch)`.
 */
export function loopsHandingSteps(file: PythonFile, backwards: readonly Backward[]): readonly Loop[] {
  const steps = new Set<FunctionDef>();
  for (const { call } of backwards) {
    const fn = functionOf(call);
    // What goes through batches of its own is a training, not a step.
    if (fn?.kind === "FunctionDef" && fn.parent?.kind !== "ClassDef" && loopsAround(call).length === 0)
      steps.add(fn);
  }
  return [...steps].flatMap((fn) => {
    const made = file.scopes.definitionAt(fn);
    return (made ? file.scopes.uses(made) : []).flatMap((use) => {
      const call = use.parent?.kind === "Arg" ? use.parent.parent : use.parent;
      const [loop] = loopsAround(use);
      const isHanded = call?.kind === "Call" && call.func !== use && !STARTS.test(file.textOf(call.func));
      return loop && isHanded ? [loop] : [];
    });
  });
}

/** What runs a whole training, or only keeps or changes what it is given. */
const STARTS = /Thread|Process|spawn|submit|launch|partial|compile|jit|script|trace|append|register|wraps/;
