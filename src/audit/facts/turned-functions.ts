import { keyword, positional } from "../../python/file.ts";
import type { PythonFile } from "../../python/file.ts";
import { contains, functionOf, namesIn } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Name, Param } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import { frequency } from "./guards.ts";
import { callsOf, paramGiven } from "./returns.ts";
import { loopsAround } from "./training.ts";
import type { Loop } from "./training.ts";

/** A function that is the body of a loop: the call by which that runs it. */
export interface Turned {
  readonly call: Call;
  readonly loop: Loop;
}

/** Asked once for a function: many rules ask it, and of all that stands in there. */
const answers = (): Map<FunctionDef, Turned | null> => new Map();

/** The loop that runs a function of this file in each of its turns, by the only call there is of it. */
export function turnedBy(fn: FunctionDef, file: PythonFile): Turned | null {
  const known = file.once(answers);
  let turned = known.get(fn);
  if (turned === undefined) known.set(fn, (turned = loopOf(fn, file)));
  return turned;
}

function loopOf(fn: FunctionDef, file: PythonFile): Turned | null {
  const [call, ...more] = callsOf(fn, file);
  const [loop] = call ? loopsAround(call) : [];
  if (!call || !loop || more.length > 0 || frequency(call, loop, file) !== "every") return null;
  return { call, loop };
}

/** What the loop's call gives for a name of the function, where that is a parameter which nothing else was bound to. */
export function turnedArgument(name: Name, fn: FunctionDef, { call }: Turned, file: PythonFile): Expr | null {
  const [one, ...more] = file.scopes.reaching(name);
  if (one?.how !== "param" || one.node.parent !== fn || more.length > 0) return null;
  const at = fn.params.findIndex((param) => param.name === name.id);
  const shift = call.func.kind === "Attribute" && fn.params[0]?.name === "self" ? 1 : 0;
  return keyword(call, name.id)?.value ?? positional(call, at - shift);
}

/** Whether a test of the function asks for what its loop counts by: the `i` of `for i, batch in enumerate(loader):`, handed in. */
export function asksForTurn(test: Expr, fn: FunctionDef, turned: Turned, file: PythonFile): boolean {
  const { loop } = turned;
  if (loop.kind !== "For") return false;
  return namesIn(test).some((name) => {
    const given = turnedArgument(name, fn, turned, file);
    if (given?.kind !== "Name") return false;
    const made = file.scopes.reaching(given);
    return made.length > 0 && made.every(({ node }) => contains(loop.target, node));
  });
}

/** All that a function does with what it is handed is to run it, or a part of it, without gradients. */
export function isOnlyRunIn(fn: FunctionDef, { id }: Name, facts: Facts): boolean {
  const param = fn.params.find(({ name }) => name === id);
  const made = param ? facts.file.scopes.definitionAt(param) : null;
  return (
    made !== null &&
    facts.file.scopes.uses(made).every((use) => {
      let at: Expr = use;
      while (at.parent?.kind === "Attribute") at = at.parent;
      return at.parent?.kind === "Call" && at.parent.func === at && facts.gradMode(use) === "off";
    })
  );
}

/**
 * Handed back to the loop for nothing: there it is dropped, or given to the next turn, which binds the name anew before anyone
 * reads it.
 */
export function isHandedBackForNothing(use: Name, file: PythonFile): boolean {
  const fn = functionOf(use);
  const tuple = use.parent?.kind === "Tuple" && use.parent.parent?.kind === "Return" ? use.parent : null;
  const turned = tuple && fn?.kind === "FunctionDef" ? turnedBy(fn, file) : null;
  const [targets] = turned?.call.parent?.kind === "Assign" ? turned.call.parent.targets : [];
  const target = targets?.kind === "Tuple" ? targets.items[tuple!.items.indexOf(use)] : undefined;
  const made = target ? file.scopes.definitionAt(target) : null;
  if (!turned || !made) return false;
  const isUnread = (param: Param | null): boolean => {
    const given = param && file.scopes.definitionAt(param);
    return given !== null && file.scopes.uses(given).length === 0;
  };
  return file.scopes.uses(made).every(({ parent }) => {
    const held = parent?.kind === "Tuple" ? parent.parent : parent;
    if (held?.kind === "Delete") return true;
    return (
      parent?.kind === "Arg" &&
      parent.parent === turned.call &&
      isUnread(paramGiven(turned.call, parent, file))
    );
  });
}
