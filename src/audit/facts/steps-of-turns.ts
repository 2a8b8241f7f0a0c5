import { argument, keyword } from "../../python/file.ts";
import { contains, functionOf } from "../../python/nodes.ts";
import type { Call, FunctionDef, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import type { Turn } from "./full-counts.ts";
import type { Reckoned } from "./reckoned-turns.ts";
import { callsOf } from "./returns.ts";
import { loopsAround, optimizerSteps } from "./training.ts";
import type { Loop } from "./training.ts";

/** When the optimizer steps: here, or in a function of this file that is told, `update(loss, optimizer, last=(i + 1) % n == 0)`. */
export function steppings(
  turn: Turn,
  { file }: Facts,
): readonly ((reckon: Reckoned, at: number) => boolean | null)[] {
  // `loss_scaler(loss, optimizer, update_grad=(i + 1) % n == 0)`, as timm and what follows it write it.
  const told = file.calls.given(["update_grad"]).flatMap((call) => {
    const given = contains(turn, call) ? keyword(call, "update_grad") : null;
    return given ? [(reckon: Reckoned, at: number) => reckon.holds(given.value, at)] : [];
  });
  const own = optimizerSteps(file).flatMap((step) => {
    if (contains(turn, step)) return [(reckon: Reckoned, at: number) => reckon.runs(step, at)];
    const fn = functionOf(step);
    if (fn?.kind !== "FunctionDef" || fn === turn) return [];
    const flag = flagAround(step, fn);
    const call = callsOf(fn, file).find((one) => contains(turn, one));
    const given = flag && call ? argument(call, flag.name, flag.index) : null;
    return given ? [(reckon: Reckoned, at: number) => reckon.holds(given, at)] : [];
  });
  return [...told, ...own];
}

/** The parameter that a step stands under. */
function flagAround(step: Node, fn: FunctionDef): { readonly name: string; readonly index: number } | null {
  const own = fn.params[0]?.name === "self" ? 1 : 0;
  for (let child = step, at = step.parent; at && at !== fn; child = at, at = at.parent) {
    if (at.kind !== "If" || at.test.kind !== "Name" || at.orelse.includes(child as never)) continue;
    const { id } = at.test;
    const index = fn.params.findIndex(({ name }) => name === id);
    if (index >= own) return { name: id, index: index - own };
  }
  return null;
}

/** The optimizer steps in the loop around this one, below it, and never in it. */
export function stepsRightAfter(loop: Loop, { file, backwards }: Facts): boolean {
  const outer = loopsAround(loop)[0] ?? null;
  const steps = optimizerSteps(file);
  // `for optimizer in optimizers: optimizer.step()`
  const isOfSame = (step: Call): boolean => {
    const [around, beyond] = loopsAround(step);
    if ((around ?? null) === outer) return true;
    return (
      around !== undefined &&
      (beyond ?? null) === outer &&
      !backwards.some(({ call }) => contains(around, call))
    );
  };
  return (
    steps.some((step) => step.start > loop.end && functionOf(step) === functionOf(loop) && isOfSame(step)) &&
    !steps.some((step) => contains(loop, step))
  );
}
