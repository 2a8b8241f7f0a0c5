import type { PythonFile } from "../../python/file.ts";
import { contains, lastWord } from "../../python/nodes.ts";
import type { Call, Expr, Name, Stmt } from "../../python/tree.ts";
import type { Facts } from "./facts.ts";
import type { Loop } from "./training.ts";

/** `for update in range(n):` scores what was generated, and then learns from it in loops of its own. */
export function stepsBelow(loop: Loop, statement: Stmt, facts: Facts): boolean {
  return (
    facts.stepLoop(statement) === null &&
    [...facts.stepLoops].some((inner) => inner.start > statement.end && contains(loop, inner))
  );
}

/** `logs.gather(-1, ids)`, `torch.gather(logs, 2, ids)` */
export function isGatheredFrom({ parent }: Name, file: PythonFile): boolean {
  if (parent?.kind === "Attribute") return parent.attr === "gather";
  const call = parent?.kind === "Arg" ? parent.parent : null;
  return call?.kind === "Call" && call.args[0] === parent && file.dotted(call.func) === "torch.gather";
}

/** `out` of `out.logits[:, :-1]`, and `net(ids)` of `net(ids).logits.float()`. */
export function logitsOf(expr: Expr): Name | Call | null {
  if (expr.kind === "Subscript") return logitsOf(expr.value);
  if (expr.kind === "Call")
    return expr.func.kind === "Attribute" && /^(?:float|to|contiguous)$/.test(expr.func.attr)
      ? logitsOf(expr.func.value)
      : null;
  if (expr.kind !== "Attribute" || expr.attr !== "logits") return null;
  return expr.value.kind === "Name" || expr.value.kind === "Call" ? expr.value : null;
}

/** `for i in range(0, len(ids), size)`, `for part in ids.split(size)`, `for ids in loader`. */
export function goesInParts(loop: Loop, file: PythonFile): boolean {
  if (loop.kind !== "For") return false;
  const { iter } = loop;
  if (iter.kind === "Call" && file.dotted(iter.func) === "builtins.range") return iter.args.length === 3;
  return /load|batch|chunk|split|_dl\b/i.test(file.textOf(iter));
}

/** `selective_log_softmax(logits, ids)`, `logits.log_softmax(-1).gather(-1, ids)`: a number for each token. */
export function isForTokens(use: Name, { file }: Facts): boolean {
  const { parent } = use;
  const method = parent?.kind === "Attribute" && parent.parent?.kind === "Call" ? parent.parent : null;
  const call = method ?? (parent?.kind === "Arg" && parent.parent?.kind === "Call" ? parent.parent : null);
  if (!call || call.args.length === 0) return false;
  const name = lastWord(call.func);
  if (method || (file.dotted(call.func) ?? "").startsWith("torch."))
    return name === "log_softmax" && call.parent?.kind === "Attribute" && call.parent.attr === "gather";
  return call.args.length > 1 && /log_?(?:softmax|p(?:s|robs?))(?:_|$)/.test(name);
}
