import { keyword } from "../../python/file.ts";
import { contains, functionOf, namesIn } from "../../python/nodes.ts";
import type { Call, Node } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { callsOf } from "./returns.ts";
import { throttleOf } from "./step-throttles.ts";
import { loopsAround } from "./training.ts";

/** Whether the one batch that `next(iter(loader))` takes is what a step computes with, where it is not plain that every step does. */
export function isForStep(call: Call, facts: Facts): boolean {
  return (
    isFedToStep(call, facts) ||
    isFedEveryFew(call, facts) ||
    isFedToParts(call, facts) ||
    isNextOne(call, facts) ||
    isHandedToStep(call, facts)
  );
}

/** Without workers an iterator is cheap: an order of the examples, and one batch. */
export function hasWorkers(facts: Facts): boolean {
  const { file, project } = facts;
  return (
    project.working.has(file.module) ||
    file.calls.given(["num_workers"]).some((call) => {
      const { value } = keyword(call, "num_workers")!;
      return !(value.kind === "Num" && value.text === "0");
    }) ||
    // Of those that a function of another file makes for it.
    facts.callsTo("loads").some((call) => facts.callee(call)?.loads === "workers")
  );
}

/** `x, _ = next(iter(loader))` under a test nobody can read, in the loop that differentiates: what the step computes with, when it does. */
function isFedToStep(call: Call, facts: Facts): boolean {
  const loop = facts.stepLoop(call);
  return (
    loop !== null &&
    call.parent?.kind === "Assign" &&
    facts.frequency(call, loop) === "unknown" &&
    facts.backwards.some((one) => contains(loop, one.call) && one.call.start > call.end)
  );
}

/** What starts its workers as often as this spends a good part of the time on it. */
const FEW = 16;

/** `if i % 4 == 3: x, y = next(iter(replay))`, of batches that are differentiated in the turn they are taken in, of a loop or of what it calls each time. */
function isFedEveryFew(call: Call, facts: Facts): boolean {
  const { file } = facts;
  const loop = facts.stepLoop(call) ?? facts.hot(call)?.within ?? null;
  const held = loop && call.parent?.kind === "Assign" ? throttleOf(call, loop, facts) : null;
  const by = held?.by.kind === "Name" ? file.scopes.onlyValue(held.by) : held?.by;
  return (
    by?.kind === "Num" &&
    Number(by.text) <= FEW &&
    hasWorkers(facts) &&
    facts.gradMode(call) !== "off" &&
    facts.frequency(held!.branch, loop!) === "every" &&
    facts.frequency(call, held!.branch) === "every" &&
    // A look at another set in between takes no step with it.
    isDifferentiatedIn(call, loop!, facts)
  );
}

/** Of what is bound here, something goes into what is computed above a backward of the same turn. */
function isDifferentiatedIn(call: Call, loop: Node, facts: Facts): boolean {
  const { scopes } = facts.file;
  const targets = call.parent?.kind === "Assign" ? call.parent.targets.flatMap(namesIn) : [];
  const uses = targets.flatMap((name) => {
    const made = scopes.definitionAt(name);
    return made ? scopes.uses(made) : [];
  });
  return uses.some(
    (use) =>
      contains(loop, use) &&
      facts.gradMode(use) !== "off" &&
      facts.backwards.some((one) => contains(loop, one.call) && one.call.end > use.end),
  );
}

/**
 * `for part in model(next(iter(loader))): part.backward()`, or the batch is taken above such a loop and the optimizer's step stands
 * below it: what is gone through is one batch in parts, and each turn of the loop around takes it from an iterator of its own.
 */
function isFedToParts(call: Call, facts: Facts): boolean {
  const [turn] = loopsAround(call);
  if (!turn || facts.frequency(call, turn) !== "every") return false;
  const parts = [...facts.stepLoops].filter((loop) => loop !== turn && contains(turn, loop));
  if (parts.some((loop) => loop.kind === "For" && contains(loop.iter, call))) return true;
  return (
    parts.length > 0 &&
    facts.file
      .callsNamed("step")
      .some((step) => step.args.length < 2 && loopsAround(step)[0] === turn && step.start > call.end)
  );
}

/** `trainer.step(x)` below, in a loop of its own over what it was handed: the same name in the same turn. */
function isHandedToStep(call: Call, facts: Facts): boolean {
  const [loop] = loopsAround(call);
  const [target] = call.parent?.kind === "Assign" ? call.parent.targets : [];
  const names = (target?.kind === "Tuple" ? target.items : target ? [target] : []).flatMap((item) =>
    item.kind === "Name" && item.id !== "_" ? [item.id] : [],
  );
  if (!loop || names.length === 0 || facts.frequency(call, loop) !== "every") return false;
  return facts.file
    .all("Call")
    .some(
      (one) =>
        one.start > call.end &&
        contains(loop, one) &&
        one.args.some(({ value }) => value.kind === "Name" && names.includes(value.id)) &&
        facts.callee(one)?.reachesBackward === true,
    );
}

/** `def load_next_batch(self): return next(iter(self.loader))`, of a class that trains: all that the method is for. */
function isNextOne(call: Call, facts: Facts): boolean {
  const fn = functionOf(call);
  return (
    call.parent?.kind === "Return" &&
    fn?.kind === "FunctionDef" &&
    fn.parent?.kind === "ClassDef" &&
    /next|batch|sample/.test(fn.name) &&
    facts.backwards.some((one) => contains(fn.parent!, one.call)) &&
    callsOf(fn, facts.file).some((one) => facts.stepLoop(one) !== null)
  );
}
