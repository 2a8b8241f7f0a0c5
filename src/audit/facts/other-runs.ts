import type { PythonFile } from "../../python/file.ts";
import { contains } from "../../python/nodes.ts";
import type { Expr, Node } from "../../python/tree.ts";
import { isFlag } from "./switches.ts";

/**
 * Whether no run comes by both: one of them stands under `if not cfg.accumulate:` or in the `else`, and the other under
 * `if cfg.accumulate:`, a setting that holds for all turns of the loop around.
 */
export function isOfOtherRuns(a: Node, b: Node, within: Node, file: PythonFile): boolean {
  const asked = settings(a, within, file);
  if (asked.size === 0) return false;
  for (const [text, holds] of settings(b, within, file)) {
    const other = asked.get(text);
    if (other !== undefined && other !== holds && !isSetIn(within, text, file)) return true;
  }
  return false;
}

/** What a node needs to be run at all, by the text of each setting: whether that is on. */
function settings(node: Node, within: Node, file: PythonFile): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (let child = node, at = node.parent; at && at !== within; child = at, at = at.parent) {
    if (at.kind === "FunctionDef" || at.kind === "Lambda") break;
    if ((at.kind !== "If" && at.kind !== "IfExp") || child === at.test) continue;
    const holds = at.kind === "If" ? at.body.includes(child as never) : at.body === child;
    for (const [test, on] of parts(at.test, holds))
      if (isFlag(test) && test.kind !== "Const") found.set(file.textOf(test), on);
  }
  return found;
}

/** `a` and `not b` of `a and not b`, where that holds; of `a or b` where it does not. */
function parts(test: Expr, holds: boolean): readonly (readonly [Expr, boolean])[] {
  if (test.kind === "Unary" && test.op === "not") return parts(test.operand, !holds);
  if (test.kind === "Bool")
    return (test.op === "and") === holds ? test.values.flatMap((one) => parts(one, holds)) : [];
  return [[test, holds]];
}

/** `first = False` in the loop itself, or its own `for x, first in loader`: what is asked again may have changed. */
function isSetIn(within: Node, text: string, file: PythonFile): boolean {
  const asked = /^[\w.]+/.exec(text)?.[0] ?? text;
  const [root] = asked.split(".", 1);
  if ((file.scopes.scopeOf(within).bindings.get(root!) ?? []).some(({ node }) => contains(within, node)))
    return true;
  return (
    asked !== root &&
    file.assignsTo(asked.slice(asked.lastIndexOf(".") + 1)).some((one) => contains(within, one))
  );
}
