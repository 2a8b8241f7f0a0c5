import type { PythonFile } from "../../python/file.ts";
import { keyword, positional } from "../../python/file.ts";
import { classOf, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef } from "../../python/tree.ts";
import { assignsBeyondNames } from "./assigns.ts";
import { selfAttribute } from "./classes.ts";
import type { Facts } from "./facts.ts";

/**
 * Functions that an engine of training calls on every step, which nobody is seen calling: `engine.hooks["on_update"] = average` of
 * torchnet, `@trainer.on(Events.ITERATION_COMPLETED)` of ignite.
 */
export function stepHooks(file: PythonFile): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>();
  const add = (named: Expr | null): void => {
    const [one, ...more] = named?.kind === "Name" ? file.scopes.reaching(named) : [];
    if (one?.node.kind === "FunctionDef" && more.length === 0) found.add(one.node);
  };
  for (const { targets, value } of assignsBeyondNames(file)) {
    const [target] = targets;
    if (
      target?.kind === "Subscript" &&
      target.index.kind === "Str" &&
      target.index.value === "on_update" &&
      lastWord(target.value) === "hooks"
    )
      add(value);
  }
  const handlers = file.callsNamed("add_event_handler");
  const decorators = file.callsNamed("on");
  if (handlers.length + decorators.length === 0 || !file.mentions("ITERATION_")) return found;
  for (const call of handlers)
    if (isOfTraining(call.func, file) && isEachTurn(positional(call, 0), file)) add(positional(call, 1));
  for (const call of decorators)
    if (
      call.parent?.kind === "FunctionDef" &&
      call.parent.decorators.includes(call) &&
      isOfTraining(call.func, file) &&
      isEachTurn(positional(call, 0), file)
    )
      found.add(call.parent);
  return found;
}

/**
 * `evaluator = Engine(measure)` of ignite, which calls `measure` for every batch of what it is run over, with gradients recorded
 * unless whoever runs it switches that off.
 */
export function isEngineStep(fn: FunctionDef, facts: Facts): boolean {
  const { file } = facts;
  return file.callsNamed("Engine").some((call) => {
    const step = /^ignite\.engine\.(?:engine\.)?Engine$/.test(file.dotted(call.func) ?? "")
      ? (keyword(call, "process_function")?.value ?? positional(call, 0))
      : null;
    return step !== null && isFunction(step, fn, file) && !isRunUnrecorded(call, facts);
  });
}

/** `measure`, `self.measure`, and the same with some of what it is given: `partial(measure, net)`. */
function isFunction(step: Expr, fn: FunctionDef, file: PythonFile): boolean {
  if (step.kind === "Call") {
    const whole = file.dotted(step.func) === "functools.partial" ? positional(step, 0) : null;
    return whole !== null && isFunction(whole, fn, file);
  }
  if (selfAttribute(step) !== null) return selfAttribute(step) === fn.name && classOf(step) === fn.parent;
  const [one, ...more] = step.kind === "Name" ? file.scopes.reaching(step) : [];
  return one?.node === fn && more.length === 0;
}

/** `with torch.no_grad(): evaluator.run(rows)`; by whatever name, where it is not seen which engine that is. */
function isRunUnrecorded(engine: Call, facts: Facts): boolean {
  const { file } = facts;
  const [target] = engine.parent?.kind === "Assign" ? engine.parent.targets : [];
  return file
    .callsNamed("run")
    .some(
      (call) =>
        call.func.kind === "Attribute" &&
        facts.gradMode(call) === "off" &&
        (target?.kind !== "Name" || file.textOf(call.func.value) === target.id),
    );
}

/** `Events.ITERATION_COMPLETED`; with `(every=100)` it is now and then. */
function isEachTurn(event: Expr | null, file: PythonFile): boolean {
  return (
    event !== null &&
    /^ignite\.engine\.(?:\w+\.)*Events\.(?:ITERATION_(?:STARTED|COMPLETED)|BACKWARD_COMPLETED|OPTIM_STEP_COMPLETED)$/.test(
      file.dotted(event) ?? "",
    )
  );
}

/** An engine that evaluates goes through its turns as well. */
function isOfTraining(asked: Expr, file: PythonFile): boolean {
  const engine = asked.kind === "Attribute" ? asked.value : null;
  const made = engine?.kind === "Name" ? file.scopes.onlyValue(engine) : null;
  return (
    engine !== null &&
    (/^_?(?:\w+_)?trainer$/.test(lastWord(engine)) ||
      (made?.kind === "Call" && lastWord(made.func) === "create_supervised_trainer"))
  );
}
