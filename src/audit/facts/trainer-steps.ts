import { classOf, functionOf } from "../../python/nodes.ts";
import { methodsOf } from "./classes.ts";
import type { Facts } from "./facts.ts";
import type { Backward } from "./training.ts";

/**
 * The first plain backward in each `training_step` that a Trainer of transformers has of its own, where nothing in it divides by how
 * many of them the Trainer adds up: the Trainer's own does, and who takes its place has to.
 */
export function* undividedTrainerSteps(facts: Facts): Generator<Backward> {
  const { file } = facts;
  if (!file.mentions("transformers")) return;
  const seen = new Set<unknown>();
  for (const backward of facts.backwards) {
    const { call, loss } = backward;
    const fn = functionOf(call);
    if (fn?.kind !== "FunctionDef" || fn.name !== "training_step" || seen.has(fn)) continue;
    const cls = classOf(fn);
    if (!cls || facts.role(cls) !== "trainer" || !isHandedModel(fn.params[1]?.name)) continue;
    // Whoever has a loop as well counts there; accelerate and deepspeed divide by themselves.
    if (methodsOf(cls).some(({ name }) => /^(?:train|_?inner_training_loop|training_loop)$/.test(name)))
      continue;
    if (!loss || /accelerat|deepspeed|engine/i.test(file.textOf(call.func))) continue;
    // What only asks for the number divides by nothing.
    const code = file.codeOf(fn).replace(/^ *(?:el)?if .*$/gm, "");
    if (/accum|\/=? *(?:self\.|args\.)*\w*(?:steps?|scale|num|count|n)\b|super\(\)/.test(code)) continue;
    seen.add(fn);
    yield backward;
  }
}

const isHandedModel = (name: string | undefined): boolean =>
  name !== undefined && /^(?:\w*model|net)$/.test(name);
