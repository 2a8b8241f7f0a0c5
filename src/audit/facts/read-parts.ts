import type { PythonFile } from "../../python/file.ts";
import { classOf, lastWord, walk } from "../../python/nodes.ts";
import type { Call, ClassDef, Expr, FunctionDef } from "../../python/tree.ts";
import { isModuleRole } from "./classes.ts";
import type { Facts } from "./facts.ts";
import { isAddedTo, isChangedLater } from "./fresh-results.ts";
import { isWrittenInto } from "./invariants.ts";

/**
 * `hidden = outputs.last_hidden_state.clone()` in a `forward(self, mask, outputs)` that asks what it is handed for its parts, and
 * writes into nothing. What it hands back of the copy, nobody who calls it in this file writes into either.
 */
export function isReadPart(call: Call, part: Expr, facts: Facts): boolean {
  const { scopes } = facts.file;
  const whole = isPart(part) ? part.value : null;
  const [made, ...more] = whole?.kind === "Name" ? scopes.reaching(whole) : [];
  const fn = made?.node.parent;
  const cls = classOf(call);
  if (made?.how !== "param" || more.length > 0 || fn?.kind !== "FunctionDef" || fn.name !== "forward" || !cls)
    return false;
  return (
    isModuleRole(facts.role(cls)) &&
    scopes.uses(made).every(({ parent }) => parent !== null && "value" in parent && isPart(parent as Expr)) &&
    !writesInPlace(fn) &&
    (!isChangedLater(call, facts) || (!isChangedLater(call, facts, true) && isLeftByCallers(cls, facts.file)))
  );
}

/** `outputs.logits`, `outputs["logits"]`; `scores.T` and `scores.data` are all of a tensor. */
function isPart(expr: Expr): expr is Extract<Expr, { kind: "Attribute" | "Subscript" }> {
  if (expr.kind === "Attribute") return !/^(?:data|grad|m?[TH]|real|imag)$|_$/.test(expr.attr);
  return expr.kind === "Subscript" && expr.index.kind === "Str";
}

/** `x += y`, `x[0] = y`, `x.add_(y)`, and whatever is told to work in place. */
function writesInPlace(fn: FunctionDef): boolean {
  let writes = false;
  walk(fn, (node) => {
    if (node.kind === "AugAssign") writes = true;
    else if (node.kind === "Assign") writes ||= node.targets.some(({ kind }) => kind === "Subscript");
    else if (node.kind === "Call")
      writes ||=
        (node.func.kind === "Attribute" && /[^_]_$/.test(node.func.attr)) ||
        node.args.some(({ name }) => name === "inplace" || name === "out");
    return !writes;
  });
  return writes;
}

/** `self.pooler = Pooler(kind)`, and what `self.pooler(mask, outputs)` gave is written into nowhere. */
function isLeftByCallers(cls: ClassDef, file: PythonFile): boolean {
  const own = file.qualified(cls);
  const kept = file.callsNamed(cls.name).flatMap(({ func, parent }) => {
    const [target] = parent?.kind === "Assign" && file.dotted(func) === own ? parent.targets : [];
    return target ? [lastWord(target)] : [];
  });
  const runs = kept.length > 0 ? file.callsNamed(...new Set(kept)) : [];
  return runs.length > 0 && !runs.some((run) => isResultWritten(run, file));
}

function isResultWritten({ parent }: Call, file: PythonFile): boolean {
  const [target] = parent?.kind === "Assign" ? parent.targets : [];
  const made = target?.kind === "Name" ? file.scopes.definitionAt(target) : null;
  if (target?.kind !== "Name" || !made) return false;
  return isAddedTo(made, target, file) || file.scopes.uses(made).some(isWrittenInto);
}
