import type { PythonFile } from "../../python/file.ts";
import type { Definition } from "../../python/scopes.ts";
import type { Expr, Subscript } from "../../python/tree.ts";

/** Of these a tensor's values are the first result, and where they were found the second. */
const WITH_INDICES = /^(?:max|min|median|mode|kthvalue|topk|sort|cummax|cummin)$/;

/** `x.max(1)[1]`, `x.topk(5).indices`, `stats["code_ids"]`: positions, which have no graph. */
export function isIndices(expr: Expr): boolean {
  if (expr.kind === "Subscript") {
    if (expr.index.kind === "Str")
      return /(?:^|_)(?:ids|indices|indexes|idxs?)$/.test(expr.index.value ?? "");
    return expr.index.kind === "Num" && expr.index.text === "1" && hasIndices(expr.value);
  }
  return expr.kind === "Attribute" && expr.attr === "indices" && hasIndices(expr.value);
}

/** What is counted, beside a loss: `loss, hits = model(x, y)`. */
const COUNT = /^(?:\w*_)?(?:hits?\d*|n_?correct|correct|acc\d*|accuracy)$/;

/** `_, predicted = x.max(1)`, or a count: whole numbers have no gradient. */
export function holdsIndices({ how, index, value, name }: Definition): boolean {
  if (how !== "unpack" || value === null) return false;
  return COUNT.test(name) || (index === 1 && hasIndices(value));
}

function hasIndices(expr: Expr): boolean {
  return expr.kind === "Call" && expr.func.kind === "Attribute" && WITH_INDICES.test(expr.func.attr);
}

/** The subscripts that pick by something computed: `x[mask]`, `x[:, rows]`. Most others are `x[0]`, `x["key"]`, `x[:, 1:]`. */
export function computedPicks(file: PythonFile): readonly Subscript[] {
  return file
    .all("Subscript")
    .filter(({ index }) =>
      index.kind === "Tuple" ? !index.items.every(isWrittenDown) : !isWrittenDown(index),
    );
}

function isWrittenDown({ kind }: Expr): boolean {
  return kind === "Num" || kind === "Str" || kind === "Slice" || kind === "Const";
}
