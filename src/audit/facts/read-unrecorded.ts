import type { PythonFile } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Arg, Call, Expr, Node } from "../../python/tree.ts";
import { isWithoutGraph } from "./behind-loss.ts";
import type { Facts } from "./facts.ts";
import { lexicalGrad } from "./gradmode.ts";
import { isNetwork } from "./networks.ts";
import { callTarget } from "./summary.ts";

/**
 * `after = self.encoder(after)` of a step, which hands that to a method of its own, and there it is read below `torch.no_grad()`
 * alone: nothing is differentiated through what this run records.
 */
export function* readUnrecorded(facts: Facts): Generator<Call> {
  const { file } = facts;
  if (facts.backwards.length === 0 || !(file.mentions("no_grad") || file.mentions("inference_mode"))) return;
  for (const { targets, value } of file.all("Assign")) {
    const [target, ...more] = targets;
    if (target?.kind !== "Name" || more.length > 0 || value.kind !== "Call" || value.args.length === 0)
      continue;
    if (lexicalGrad(value, file) !== null || !isNetwork(value.func, facts)) continue;
    if (facts.networks.isLoss(value.func) || facts.networks.isFrozen(value.func)) continue;
    // `self.augment(after)` is a module as well, and has nothing to learn.
    if (!isOptimised(value.func, file)) continue;
    const made = file.scopes.definitionAt(target);
    if (!made || !isReadUnrecorded(made, file, 0) || !facts.hot(value)) continue;
    if (facts.gradMode(value) !== "off") yield value;
  }
}

/** `self.encoder.parameters()` is asked for, by whoever has it learn. */
function isOptimised(callee: Expr, file: PythonFile): boolean {
  const network =
    callee.kind === "Attribute" && callee.attr === "forward" ? lastWord(callee.value) : lastWord(callee);
  return file
    .callsNamed("parameters", "named_parameters")
    .some(({ func }) => func.kind === "Attribute" && lastWord(func.value) === network);
}

/** Whether something reads it, and all that does so records nothing. */
function isReadUnrecorded(made: Definition, file: PythonFile, depth: number): boolean {
  let isRead = false;
  for (const use of file.scopes.uses(made)) {
    // `after.shape`, `after.detach()`
    const part = use.parent?.kind === "Attribute" ? use.parent : null;
    if (part && (isWithoutGraph(part) || (part.parent && isWithoutGraph(part.parent)))) continue;
    if (lexicalGrad(use, file) !== "off" && !isHandedToReader(use, file, depth)) return false;
    isRead = true;
  }
  return isRead;
}

/** `self.update_critic(before, after)`, of which this is one of the parameters. */
function isHandedToReader({ parent }: Node, file: PythonFile, depth: number): boolean {
  const call = parent?.kind === "Arg" && parent.star === 0 ? parent.parent : null;
  const fn = call?.kind === "Call" && depth < 2 ? file.functionNamed(callTarget(call, file)) : null;
  if (call?.kind !== "Call" || !fn) return false;
  const { name } = parent as Arg;
  const shift = fn.parent?.kind === "ClassDef" ? 1 : 0;
  const param = fn.params.find((one, at) =>
    name === null ? at === call.args.indexOf(parent as Arg) + shift : one.name === name,
  );
  const made = param?.star === 0 ? file.scopes.definitionAt(param) : null;
  return made !== null && made !== undefined && isReadUnrecorded(made, file, depth + 1);
}
