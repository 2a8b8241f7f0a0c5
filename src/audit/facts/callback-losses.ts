import { contains, functionOf } from "../../python/nodes.ts";
import type { Attribute, Call, Expr, FunctionDef } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/** By its name what runs the training. */
const TRAINS = /(?:^|_)(?:trainer|engine|runner|learner|solver)$/;

/**
 * `losses.append(trainer.loss)` in a function that is handed the trainer, after each step: of a program whose trainer
 * differentiates its `self.loss`, which still has its nodes.
 */
export function* lossesOfTrainer(
  facts: Facts,
): Generator<{ readonly call: Call; readonly added: Attribute; readonly list: Expr }> {
  const { file, project } = facts;
  if (!project.ownLosses.has(file.module)) return;
  for (const call of file.callsNamed("append")) {
    const [arg, ...more] = call.args;
    const fn = functionOf(call);
    if (call.func.kind !== "Attribute" || more.length > 0 || fn?.kind !== "FunctionDef") continue;
    const added = arg?.value;
    const list = call.func.value;
    if (added?.kind !== "Attribute" || added.attr !== "loss" || added.value.kind !== "Name") continue;
    const [made, ...others] = file.scopes.reaching(added.value);
    if (made?.how !== "param" || others.length > 0 || !TRAINS.test(made.name)) continue;
    if (facts.gradMode(call) !== "off" && isKeptOutside(list, fn, facts)) yield { call, added, list };
  }
}

/** A list of the object, or of what is around the function, which nothing here empties. */
function isKeptOutside(list: Expr, fn: FunctionDef, { file }: Facts): boolean {
  const begun = list.kind === "Name" ? (file.scopes.lookup(list)?.definitions ?? []) : [];
  const outside =
    selfAttribute(list) !== null || (begun.length > 0 && begun.every(({ node }) => !contains(fn, node)));
  const name = file.textOf(list);
  return outside && !file.code.includes(`${name}.clear(`) && !file.codeOf(fn).includes(`${name} = `);
}
