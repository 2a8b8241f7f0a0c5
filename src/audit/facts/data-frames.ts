import type { PythonFile } from "../../python/file.ts";
import { keyword } from "../../python/file.ts";
import { classOf } from "../../python/nodes.ts";
import type { Expr } from "../../python/tree.ts";
import { attributesOf, selfAttribute } from "./classes.ts";

const READERS = ["read_csv", "read_excel", "read_table"] as const;

/** Methods of a table, or of an array of its entries, that leave their type as it is. */
const LEAVES =
  /^(?:to_numpy|drop|dropna|fillna|interpolate|reset_index|set_index|sort_values|sort_index|copy|reshape|head|tail|sample|mean|std|min|max|median)$/;

/**
 * What pandas has read from text, or a part of it: `frame[["a", "b"]].values`, `train_test_split(frame.values, …)`. Its numbers are
 * whole, or float64; whoever says a type may have said another.
 */
export function isOfTable(expr: Expr, file: PythonFile, depth = 0): boolean {
  if (depth > 12 || (depth === 0 && file.callsNamed(...READERS).length === 0)) return false;
  const again = (one: Expr): boolean => isOfTable(one, file, depth + 1);
  const own = selfAttribute(expr);
  const cls = own === null ? null : classOf(expr);
  if (cls) {
    const writes = attributesOf(cls, file).get(own!)?.writes ?? [];
    return (
      writes.length > 0 &&
      writes.every(({ how, value }) => how === "assign" && value !== null && again(value))
    );
  }
  switch (expr.kind) {
    case "Name": {
      const [one, ...more] = file.scopes.reaching(expr);
      if (more.length > 0 || !one?.value) return false;
      if (one.how === "assign") return again(one.value);
      return (
        one.how === "unpack" && typeof one.index === "number" && isSplit(one.value, one.index, file, again)
      );
    }
    case "Binary":
      return /^[-+*/]$/.test(expr.op) && (again(expr.left) || again(expr.right));
    case "Subscript":
      return again(expr.value);
    case "Attribute":
      return /^(?:values|T|i?loc)$/.test(expr.attr) && again(expr.value);
    case "Call": {
      if (keyword(expr, "dtype")) return false;
      const name = file.dotted(expr.func);
      if (name !== null) return /^pandas\.read_(?:csv|excel|table)$/.test(name);
      return expr.func.kind === "Attribute" && LEAVES.test(expr.func.attr) && again(expr.func.value);
    }
    default:
      return false;
  }
}

/** `train, test, …` of `train_test_split(rows, labels)`: two of each. */
function isSplit(call: Expr, at: number, file: PythonFile, again: (one: Expr) => boolean): boolean {
  if (call.kind !== "Call" || file.dotted(call.func) !== "sklearn.model_selection.train_test_split")
    return false;
  const given = call.args[Math.floor(at / 2)];
  return given !== undefined && given.name === null && given.star === 0 && again(given.value);
}
