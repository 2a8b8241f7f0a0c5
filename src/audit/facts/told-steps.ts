import type { Arg, Call, Expr, NodeOf } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";

/** A call that differentiates and steps, and is told by a flag whether this is the turn to step in. */
export interface ToldStep {
  readonly call: Call;
  readonly loss: Expr;
  /** After how many turns. */
  readonly by: Expr;
  readonly loop: Loop;
}

/** `scaler(loss, optimizer, step_now=(i + 1) % n == 0)`, also by a name: the loss, the optimizer and the turn, and not how many there are. */
export function toldSteps(facts: Facts): readonly ToldStep[] {
  const { file } = facts;
  if (!file.mentions("%") || !file.mentions("loss")) return [];
  return file.all("Compare").flatMap((test) => {
    const by = everyNth(test);
    return by ? flagsFor(test, facts).flatMap((flag) => toldBy(flag, by, facts)) : [];
  });
}

/** The n of `(i + 1) % n == 0`. */
function everyNth({ left, ops, rights: [right] }: NodeOf<"Compare">): Expr | null {
  const isOf =
    left.kind === "Binary" &&
    left.op === "%" &&
    left.left.kind !== "Str" &&
    ops.length === 1 &&
    ops[0] === "==";
  return isOf && right?.kind === "Num" && right.text === "0" ? left.right : null;
}

/** Where it is given by keyword, itself or as `step_now = (i + 1) % n == 0`. */
function flagsFor(test: Expr, { file }: Facts): readonly Arg[] {
  const { parent } = test;
  if (parent?.kind === "Arg") return parent.name === null ? [] : [parent];
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  return (made ? file.scopes.uses(made) : []).flatMap((use) =>
    use.parent?.kind === "Arg" && use.parent.name !== null ? [use.parent] : [],
  );
}

function toldBy({ parent: call }: Arg, by: Expr, { file }: Facts): readonly ToldStep[] {
  if (call?.kind !== "Call") return [];
  const [loop] = loopsAround(call);
  const [loss] = call.args;
  const isLoss = loss?.name === null && loss.value.kind === "Name" && /loss$/i.test(loss.value.id);
  const steps = call.args.some(({ value }) => /(?:^|[._])optim\w*$/i.test(file.textOf(value)));
  // Told the number too, it may divide by it.
  const counts = call.args.some(({ value }) => file.textOf(value) === file.textOf(by));
  return loop && isLoss && steps && !counts ? [{ call, loss: loss.value, by, loop }] : [];
}
