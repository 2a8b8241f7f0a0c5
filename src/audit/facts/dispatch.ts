import type { PythonFile } from "../../python/file.ts";
import { functionOf } from "../../python/nodes.ts";
import type { Attribute, Dict, Expr } from "../../python/tree.ts";

/**
 * `self.loss_boxes` of `losses = {"boxes": self.loss_boxes}`, which the same function calls as `losses[name](outputs)`: whoever
 * puts a method into such a table runs it.
 */
export function isRunByKey(method: Attribute, file: PythonFile): boolean {
  const table = method.parent;
  return table?.kind === "Dict" && table.values.includes(method) && isAskedAndCalled(table, file);
}

function isAskedAndCalled(table: Dict, file: PythonFile): boolean {
  const { parent } = table;
  if (parent?.kind === "Subscript") return parent.value === table && isCalled(parent);
  const [target, ...more] = parent?.kind === "Assign" && parent.value === table ? parent.targets : [];
  const named = target?.kind === "Name" && more.length === 0 ? file.scopes.definitionAt(target) : null;
  return (
    named !== null &&
    file.scopes
      .uses(named)
      .some(
        (use) =>
          functionOf(use) === functionOf(table) &&
          use.parent?.kind === "Subscript" &&
          use.parent.value === use &&
          isCalled(use.parent),
      )
  );
}

function isCalled(expr: Expr): boolean {
  return expr.parent?.kind === "Call" && expr.parent.func === expr;
}
