import type { PythonFile } from "../../python/file.ts";
import { positional } from "../../python/file.ts";
import { lastWord } from "../../python/nodes.ts";
import type { Expr, FunctionDef } from "../../python/tree.ts";
import { assignsBeyondNames } from "./assigns.ts";

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
