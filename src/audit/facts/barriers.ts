import type { PythonFile } from "../../python/file.ts";
import { functionOf, namesIn } from "../../python/nodes.ts";
import type { Call, Expr, FunctionDef, Stmt } from "../../python/tree.ts";

export const isBarrier = (call: Call, file: PythonFile): boolean =>
  /^torch\.distributed\.(?:distributed_c10d\.)?barrier$/.test(file.dotted(call.func) ?? "");

/**
 * Functions that do nothing but have all ranks wait for each other, where there are several: whoever calls one every step waits
 * every step. One that saves before, or asks how far it is, has something else to do.
 */
export function meetingPoints(file: PythonFile): ReadonlySet<FunctionDef> {
  const found = new Set<FunctionDef>();
  for (const call of file.callsNamed("barrier")) {
    const fn = isBarrier(call, file) ? functionOf(call) : null;
    // A method may be a hook, which nobody here calls.
    if (
      fn?.kind === "FunctionDef" &&
      fn.parent?.kind === "Module" &&
      fn.body.every((one) => isForMeeting(one, file))
    )
      found.add(fn);
  }
  return found;
}

/** `if not dist.is_initialized(): return`, `size = dist.get_world_size()`, and the barrier itself. */
function isForMeeting(statement: Stmt, file: PythonFile): boolean {
  switch (statement.kind) {
    case "ExprStmt":
      return statement.value.kind === "Str" || isWaiting(statement.value, file);
    case "Return":
      return statement.value === null || isWaiting(statement.value, file);
    case "Assign":
      return OF_RANKS.test(file.textOf(statement.value));
    case "If":
      return (
        isOfRanks(statement.test, file) &&
        [...statement.body, ...statement.orelse].every((one) => isForMeeting(one, file))
      );
    default:
      return /^(?:Pass|Import|ImportFrom)$/.test(statement.kind);
  }
}

/** Also by a name that it was given above: `if size == 1:`. */
function isOfRanks(test: Expr, file: PythonFile): boolean {
  return (
    OF_RANKS.test(file.textOf(test)) ||
    namesIn(test).some((name) => {
      const made = file.scopes.onlyValue(name);
      return made !== null && OF_RANKS.test(file.textOf(made));
    })
  );
}

function isWaiting(expr: Expr, file: PythonFile): boolean {
  return (
    expr.kind === "Call" && (isBarrier(expr, file) || file.dotted(expr.func) === "torch.cuda.synchronize")
  );
}

/** Asked of the group of processes, not of how far the training is. */
const OF_RANKS = /is_available\(|is_initialized\(|world_?size|distributed|\bddp\b|\bdist\b/i;
