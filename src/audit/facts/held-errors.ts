import { walk } from "../../python/nodes.ts";
import type { Expr, FunctionDef } from "../../python/tree.ts";
import { selfAttribute } from "./classes.ts";

/** What a function calls a parameter by which it is handed an error: only of those it is asked what becomes of them. */
const ERROR =
  /^(?:e|ex|exc|err|error|exception|failure|tb|traceback|exc_info)$|_(?:err|error|exc|exception)$/;

/**
 * Parameters that a function keeps past its call, as a log of what went wrong does: `self.entries.append((step, error))`,
 * `self.last = error`, `self.trace = error.__traceback__`.
 */
export function heldErrors(fn: FunctionDef): readonly string[] | null {
  const handed = fn.params.filter(({ name }) => ERROR.test(name));
  if (handed.length === 0) return null;
  const held = new Set<string>();
  for (const statement of fn.body)
    walk(statement, (node) => {
      if (node.kind !== "Name" || !handed.some(({ name }) => name === node.id)) return;
      const traced =
        node.parent?.kind === "Attribute" && node.parent.attr === "__traceback__" ? node.parent : node;
      if (isStored(traced, false, isOwn)) held.add(node.id);
    });
  return held.size > 0 ? [...held] : null;
}

/** `self.errors`, `self.errors[step]`: what a function fills of its own goes with it. */
function isOwn(into: Expr): boolean {
  return into.kind === "Subscript" ? isOwn(into.value) : selfAttribute(into) !== null;
}

/**
 * `self.error = e`, `errors.append(e)`, `errors += [e]`, `errors[key] = e`: it outlives the place. Into another process goes a copy, without its
 * traceback: `processes` are there.
 */
export function isStored(
  expr: Expr,
  processes: boolean,
  isKept: (into: Expr) => boolean = () => true,
): boolean {
  const { parent } = expr;
  if (parent?.kind === "Assign")
    return (
      parent.value === expr &&
      parent.targets.some(
        (target) => (target.kind === "Attribute" || target.kind === "Subscript") && isKept(target),
      )
    );
  // Beside other things, in a tuple, a list or a dict that is stored.
  if (parent?.kind === "Tuple" || parent?.kind === "List" || parent?.kind === "Dict")
    return isStored(parent, processes, isKept);
  // `errors += [e]`
  if (parent?.kind === "AugAssign") return expr.kind === "List" && parent.op === "+" && isKept(parent.target);
  const call = parent?.kind === "Arg" ? parent.parent : null;
  if (call?.kind !== "Call") return false;
  // `reports.append(Report(step, e))`
  return (
    (call.func.kind === "Name" &&
      /^(?:dict$|[A-Z]\w*[a-z])/.test(call.func.id) &&
      isStored(call, processes, isKept)) ||
    (call.func.kind === "Attribute" &&
      (processes
        ? /^(?:append|appendleft|add|extend)$/
        : /^(?:append|appendleft|add|extend|put|put_nowait)$/
      ).test(call.func.attr) &&
      call.args.length === 1 &&
      isKept(call.func.value))
  );
}
