import type { Expr } from "../../python/tree.ts";
import { appendCall } from "../edits.ts";
import type { Edit } from "../rule.ts";
import type { Facts } from "./facts.ts";

/**
 * A method after an expression, as in `loss.detach()`. Of `loss if flag else 0` it goes to the branch that is a tensor; there are no
 * edits, and so is no fix, where the other may be something that has no such method.
 */
export function onTensor(expr: Expr, suffix: string, facts: Facts): Edit[] {
  const branches = branchesOf(expr);
  if (!branches) return mayBeNumber(expr, facts, 0) ? [] : appendCall(expr, suffix);
  const edits: Edit[] = [];
  for (const branch of branches) {
    if (isWritten(branch)) continue;
    const { what } = facts.value(branch);
    const own =
      branchesOf(branch) || what === "tensor" || what === "output" ? onTensor(branch, suffix, facts) : [];
    if (own.length === 0) return [];
    edits.push(...own);
  }
  return edits;
}

export function detach(expr: Expr, facts: Facts): Edit[] {
  return onTensor(expr, ".detach()", facts);
}

/** What one of these is: `a if flag else b`, `a or b`. */
function branchesOf(expr: Expr): readonly Expr[] | null {
  if (expr.kind === "IfExp") return [expr.body, expr.orelse];
  return expr.kind === "Bool" && expr.op === "or" ? expr.values : null;
}

/** `0`, `None`, `[]`: something else than a tensor. */
function isWritten(expr: Expr): boolean {
  if (expr.kind === "Unary") return isWritten(expr.operand);
  return /^(?:Num|Str|Const|List|Tuple|Dict|Set)$/.test(expr.kind);
}

/** `scale * (loss if flag else 0)`, and a name that was given something like it. */
function mayBeNumber(expr: Expr, facts: Facts, depth: number): boolean {
  const again = (inner: Expr): boolean => mayBeNumber(inner, facts, depth + 1);
  if (isWritten(expr) || depth > 6) return true;
  switch (expr.kind) {
    case "IfExp":
      return again(expr.body) || again(expr.orelse);
    case "Bool":
      return expr.values.some(again);
    case "Compare":
      return false;
    case "Unary":
      return again(expr.operand);
    case "Binary":
      return isPlain(expr.left, facts)
        ? again(expr.right)
        : isPlain(expr.right, facts)
          ? again(expr.left)
          : again(expr.left) && again(expr.right);
    case "Name": {
      const made = facts.file.scopes.reaching(expr);
      // What is differentiated is a tensor, or the program would have ended there.
      return (
        !made.some((one) => facts.isDifferentiated(one)) &&
        made.some(({ how, value }) => how === "assign" && value !== null && again(value))
      );
    }
    default:
      return false;
  }
}

function isPlain(expr: Expr, facts: Facts): boolean {
  return isWritten(expr) || facts.value(expr).what === "number";
}
